package io.lockkeeper.cli.query;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
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

/** Shows one lease with what it holds and waits for. */
@Command(
    name = "show",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description =
        "Shows one lease: whose it is, how long it lives, and what it holds and waits for.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it is shown",
      "1:no server named by --server serves such a lease, or none that you may see",
      "2:the command line is wrong",
      "69:no server answers"
    })
final class LeasesShowCommand implements Callable<Integer> {

  private static final int TAG_LENGTH = 16;

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "LEASE",
      description = "The lease's public short name, or its id, which begins with that.")
  private String lease;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    String tag = lease.length() > TAG_LENGTH ? lease.substring(0, TAG_LENGTH) : lease;
    Servers servers = new Servers(options);
    LeaseState state = find(servers, tag);
    List<LockState> held =
        LockPages.all(servers, "").stream().filter(lock -> isHeldBy(lock, tag)).toList();
    List<LockState> waits = WaitGraph.read(servers).waitsOf(tag);
    PrintWriter out = spec.commandLine().getOut();
    if (output.isJson()) {
      JsonObject all = JsonParser.parseString(Json.line(state)).getAsJsonObject();
      all.add("holds", names(held));
      all.add("waitsFor", names(waits));
      out.println(all);
    } else {
      print(state, held, waits, out);
    }
    out.flush();
    return ExitCodes.OK;
  }

  private static LeaseState find(Servers servers, String tag) {
    List<Servers.Answer<List<LeaseState>>> answers = LeaseLists.read(servers);
    Optional<LeaseState> found =
        LeaseLists.joined(answers).stream()
            .filter(one -> one.getLeaseTag().equals(tag))
            .findFirst();
    if (found.isPresent()) {
      return found.get();
    }
    if (answers.stream().allMatch(one -> one.answer().isEmpty())) {
      throw new CliException(
          ExitCodes.UNAVAILABLE,
          servers.unavailable(
              answers.stream().map(one -> "  " + one.server() + ": " + one.failure()).toList()));
    }
    throw new CliException(
        ExitCodes.FAILED,
        "no lease " + Text.plain(tag) + " that you may see at the servers named by --server");
  }

  private static boolean isHeldBy(LockState lock, String tag) {
    return lock.getHoldersList().stream().anyMatch(holder -> holder.getLeaseTag().equals(tag));
  }

  private static JsonArray names(List<LockState> locks) {
    JsonArray names = new JsonArray();
    locks.forEach(lock -> names.add(lock.getName()));
    return names;
  }

  private static void print(
      LeaseState state, List<LockState> held, List<LockState> waits, PrintWriter out) {
    out.println(
        "lease " + Text.plain(state.getLeaseTag()) + " of " + Text.plain(state.getHolder()));
    out.println(
        state.hasTtl()
            ? "  lives "
                + LeaseListing.ttl(state)
                + " without a keep-alive; "
                + Text.age(state.getRemaining())
                + " of it are left"
            : "  lives as long as its stream");
    out.println("  requests that hold or wait: " + state.getAcquisitionCount());
    held.forEach(lock -> out.println("  holds      " + Text.plain(lock.getName())));
    waits.forEach(lock -> out.println("  waits for  " + Text.plain(lock.getName())));
  }
}
