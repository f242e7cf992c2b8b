package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Style;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockState;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows one lock. */
@Command(
    name = "show",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Shows who holds a lock, who waits for it, and what they say of themselves, such as their purpose.",
      "",
      "NEEDS is for how much longer the holder needs the lock, as it has answered to a release-request; LEASE is the lease's public"
          + " name and, after a slash, the owner inside it."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:somebody holds the lock",
      "1:a server refuses",
      "2:the command line is wrong",
      "3:nobody holds it",
      "69:no server answers"
    })
public final class ShowCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "LOCK", description = "The lock's name.")
  private String name;

  @Option(
      names = "--queue",
      paramLabel = "COUNT",
      defaultValue = "20",
      description = "How many of those who wait to show, 1 to 1000. [default ${DEFAULT-VALUE}]")
  private int queueLimit;

  @Option(names = "--quiet", description = "Print nothing: the exit code tells.")
  private boolean quiet;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    if (queueLimit < 1 || queueLimit > 1_000) {
      throw new CliException(ExitCodes.USAGE, "--queue: must be 1 to 1000");
    }
    GetLockRequest request =
        GetLockRequest.newBuilder().setName(name).setQueueLimit(queueLimit).build();
    LockState lock = new Servers(options).call(stub -> stub.getLock(request)).getLock();
    if (!quiet) {
      output.print(lock, spec.commandLine().getOut(), this::print);
    }
    return lock.getHoldersCount() == 0 ? ExitCodes.FREE : ExitCodes.OK;
  }

  private void print(LockState lock, PrintWriter out) {
    Style style = output.style();
    out.println(
        Text.plain(lock.getName())
            + (lock.getHoldersCount() == 0
                ? " is " + style.good("free")
                : " is " + style.notable("held")));
    if (lock.getConfiguredLimit() > 0) {
      out.println("  its limit is set to " + lock.getConfiguredLimit() + " permits");
    }
    if (lock.hasFrozen()) {
      out.println("  it is " + LockText.frozen(lock.getFrozen()) + "; nobody new is granted it");
    }
    if (lock.hasDelayedFor()) {
      out.println(
          "  its last holder was lost: the next grant comes in "
              + Text.age(lock.getDelayedFor())
              + " at the earliest");
    }
    printHolders(lock, out);
    printQueue(lock, out);
  }

  private void printHolders(LockState lock, PrintWriter out) {
    Table holders =
        new Table(output.style(), "HELD BY", "MODE", "FOR", "NEEDS", "TOKEN", "LEASE", "METADATA");
    for (Contender holder : lock.getHoldersList()) {
      holders.row(
          LockText.who(holder),
          LockText.mode(holder, lock),
          Text.age(holder.getHeldFor()),
          LockText.needs(holder),
          LockText.token(holder),
          LockText.lease(holder),
          LockText.metadata(holder));
    }
    holders.printPart(out, 0);
  }

  private void printQueue(LockState lock, PrintWriter out) {
    Table queue = new Table(output.style(), "#", "WAITING", "MODE", "FOR", "LEASE", "METADATA");
    int place = 1;
    for (Contender waiter : lock.getQueueList()) {
      queue.row(
          Integer.toString(place++),
          LockText.who(waiter),
          LockText.mode(waiter, lock),
          Text.age(waiter.getQueuedFor()),
          LockText.lease(waiter),
          LockText.metadata(waiter));
    }
    queue.printPart(out, lock.getQueueLength() - lock.getQueueCount());
  }
}
