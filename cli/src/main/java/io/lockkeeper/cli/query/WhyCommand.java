package io.lockkeeper.cli.query;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.LockState;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says in words why a lock is waited for. */
@Command(
    name = "why",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Says in words why those who wait for a lock do: who holds it, what for and since when, how long his lease lives without a"
          + " keep-alive, whether the lock is frozen or delayed, what the holder himself waits for, and so on along the chain.",
      "",
      "A cycle in that chain is a deadlock. How long a lease lives is known of leases that the servers named by --server serve"
          + " and that you may see."
    })
public final class WhyCommand implements Callable<Integer> {

  private static final int QUEUE = 20;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "LOCK", description = "The lock's name.")
  private String name;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    Servers servers = new Servers(options);
    LockState lock = WaitGraph.state(servers, name, QUEUE);
    List<LeaseState> leases =
        lock.getHoldersCount() == 0
            ? List.of()
            : LeaseLists.joined(LeaseLists.read(servers)).stream()
                .filter(lease -> isHolders(lock, lease))
                .toList();
    WaitGraph graph = WaitGraph.read(servers);
    List<WaitGraph.Step> chain = graph.chainFrom(lock);
    PrintWriter out = spec.commandLine().getOut();
    if (output.isJson()) {
      out.println(toJson(lock, leases, chain));
    } else {
      print(lock, leases, chain, out);
      if (!graph.isWhole()) {
        out.println("(Only the " + WaitGraph.MAX_LOCKS + " longest queues were looked at.)");
      }
    }
    out.flush();
    return ExitCodes.OK;
  }

  private static boolean isHolders(LockState lock, LeaseState lease) {
    return lock.getHoldersList().stream()
        .anyMatch(holder -> holder.getLeaseTag().equals(lease.getLeaseTag()));
  }

  private void print(
      LockState lock, List<LeaseState> leases, List<WaitGraph.Step> chain, PrintWriter out) {
    String bold = output.style().bold(Text.plain(lock.getName()));
    if (lock.getHoldersCount() == 0 && lock.getQueueLength() == 0) {
      out.println(bold + " is free, and nobody waits for it.");
    } else if (lock.getHoldersCount() == 0) {
      out.println(bold + " is held by nobody, and " + waiters(lock) + " for it.");
    } else {
      out.println(
          bold
              + " is held, and "
              + (lock.getQueueLength() == 0 ? "nobody waits" : waiters(lock))
              + " for it.");
    }
    lock.getHoldersList().forEach(holder -> printHolder(holder, lock, leases, out));
    if (lock.hasFrozen()) {
      out.println(
          "It is " + LockText.frozen(lock.getFrozen()) + ": nobody new is granted it till then.");
    }
    if (lock.hasDelayedFor()) {
      out.println(
          "Its last holder was lost rather than released it: the next grant comes in "
              + Text.age(lock.getDelayedFor())
              + " at the earliest.");
    }
    printChain(chain, out);
    printQueue(lock, out);
  }

  private static String waiters(LockState lock) {
    return lock.getQueueLength() == 1 ? "1 waits" : lock.getQueueLength() + " wait";
  }

  private static void printHolder(
      Contender holder, LockState lock, List<LeaseState> leases, PrintWriter out) {
    String purpose = LockText.purpose(holder.getMetadataMap());
    out.println(
        "Holder: "
            + LockText.who(holder)
            + ", "
            + LockText.mode(holder, lock)
            + ", for "
            + (holder.getAtLeast() ? "at least " : "")
            + Text.age(holder.getHeldFor())
            + (purpose.isEmpty() ? "" : "; " + purpose)
            + (holder.hasReleaseIn()
                ? "; needs it " + Text.age(holder.getReleaseIn()) + " more"
                : ""));
    leases.stream()
        .filter(lease -> lease.getLeaseTag().equals(holder.getLeaseTag()))
        .findFirst()
        .ifPresentOrElse(
            lease -> out.println("  Its lease " + life(lease)),
            () -> {
              if (!holder.getLeaseTag().isEmpty()) {
                out.println("  Its lease is " + Text.plain(holder.getLeaseTag()) + ".");
              }
            });
  }

  private static String life(LeaseState lease) {
    String tag = Text.plain(lease.getLeaseTag());
    return lease.hasTtl()
        ? tag
            + " lives "
            + Text.age(lease.getTtl())
            + " without a keep-alive: if its client is gone, "
            + Text.age(lease.getRemaining())
            + " more."
        : tag + " lives as long as its client's stream.";
  }

  private void printChain(List<WaitGraph.Step> chain, PrintWriter out) {
    for (WaitGraph.Step step : chain) {
      out.println(
          LockText.who(step.holder())
              + " itself waits for "
              + output.style().bold(Text.plain(step.lock().getName()))
              + ", held by "
              + LockText.who(step.lock().getHoldersList())
              + since(step.lock())
              + ".");
      if (step.closesCycle()) {
        out.println(
            output
                .style()
                .bad("That closes a cycle: none of them goes on before one gives up (deadlock)."));
      }
    }
  }

  private static String since(LockState lock) {
    return lock.getHoldersCount() == 0 ? "" : " for " + LockText.heldFor(lock);
  }

  private static void printQueue(LockState lock, PrintWriter out) {
    int place = 1;
    for (Contender waiter : lock.getQueueList()) {
      String purpose = LockText.purpose(waiter.getMetadataMap());
      Optional<String> more = purpose.isEmpty() ? Optional.empty() : Optional.of("; " + purpose);
      out.println(
          "Waiter "
              + place++
              + ": "
              + LockText.who(waiter)
              + ", "
              + LockText.mode(waiter, lock)
              + ", for "
              + Text.age(waiter.getQueuedFor())
              + more.orElse(""));
    }
    int left = lock.getQueueLength() - lock.getQueueCount();
    if (left > 0) {
      out.println("and " + left + " more");
    }
  }

  private static JsonObject toJson(
      LockState lock, List<LeaseState> leases, List<WaitGraph.Step> chain) {
    JsonArray steps = new JsonArray();
    boolean cycle = false;
    for (WaitGraph.Step step : chain) {
      JsonObject one = new JsonObject();
      one.add("holder", JsonParser.parseString(Json.line(step.holder())));
      one.addProperty("waitsFor", step.lock().getName());
      steps.add(one);
      cycle |= step.closesCycle();
    }
    JsonArray known = new JsonArray();
    leases.forEach(lease -> known.add(JsonParser.parseString(Json.line(lease))));
    JsonObject all = new JsonObject();
    all.add("lock", JsonParser.parseString(Json.line(lock)));
    all.add("leases", known);
    all.add("chain", steps);
    all.addProperty("cycle", cycle);
    return all;
  }
}
