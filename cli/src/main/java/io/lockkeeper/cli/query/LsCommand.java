package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockState;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the locks in use. */
@Command(
    name = "ls",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = "Lists the locks that somebody holds or waits for, ordered by name.")
public final class LsCommand implements Callable<Integer> {

  private static final int PAGE = 1_000;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "PREFIX",
      defaultValue = "",
      description = "Only names that begin with this.")
  private String prefix;

  @Option(names = "--json", description = "One JSON object for each lock, one to a line.")
  private boolean json;

  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    Servers servers = new Servers(options);
    PrintWriter out = spec.commandLine().getOut();
    String token = "";
    boolean any = false;
    do {
      ListLocksRequest request =
          ListLocksRequest.newBuilder()
              .setPrefix(prefix)
              .setPageSize(PAGE)
              .setPageToken(token)
              .build();
      ListLocksResponse page = servers.call(stub -> stub.listLocks(request));
      print(page.getLocksList(), out);
      any |= page.getLocksCount() > 0;
      token = page.getNextPageToken();
    } while (!token.isEmpty());
    if (!any && !json) {
      spec.commandLine()
          .getErr()
          .println("no lock in use" + (prefix.isEmpty() ? "" : " begins with " + prefix));
    }
    return ExitCodes.OK;
  }

  private void print(List<LockState> locks, PrintWriter out) {
    if (json) {
      locks.forEach(lock -> out.println(Json.line(lock)));
    } else if (!locks.isEmpty()) {
      Table table = new Table("LOCK", "MODE", "HELD BY", "FOR", "WAITING", "TOKEN");
      for (LockState lock : locks) {
        table.row(
            Text.plain(lock.getName()),
            LockText.mode(lock),
            heldBy(lock),
            LockText.heldFor(lock),
            Integer.toString(lock.getQueueLength()),
            LockText.token(lock));
      }
      table.print(out);
    }
    out.flush();
  }

  private static String heldBy(LockState lock) {
    String who = holders(lock);
    return lock.hasFrozen() ? who + " (" + LockText.frozen(lock.getFrozen()) + ")" : who;
  }

  private static String holders(LockState lock) {
    return lock.getHoldersCount() == 0 && lock.hasDelayedFor()
        ? "(next grant in " + Text.age(lock.getDelayedFor()) + ")"
        : LockText.who(lock.getHoldersList());
  }
}
