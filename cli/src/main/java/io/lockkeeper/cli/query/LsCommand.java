package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.ListOptions;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.LockState;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the locks in use. */
@Command(
    name = "ls",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = "Lists the locks that somebody holds or waits for, ordered by name.")
public final class LsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private PrefixParameter names;
  @Mixin private ListOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    PrintWriter out = spec.commandLine().getOut();
    AtomicBoolean any = new AtomicBoolean();
    LockPages.read(
        new Servers(options),
        names.prefix,
        page -> {
          any.compareAndSet(false, !page.isEmpty());
          print(page, out);
        });
    if (!any.get() && output.format() == ListOptions.Format.TABLE) {
      PrintWriter err = spec.commandLine().getErr();
      err.println(
          "no lock in use" + (names.prefix.isEmpty() ? "" : " begins with " + names.prefix));
    }
    return ExitCodes.OK;
  }

  private void print(List<LockState> locks, PrintWriter out) {
    switch (output.format()) {
      case JSON -> locks.forEach(lock -> out.println(Json.line(lock)));
      case NAME -> locks.forEach(lock -> out.println(Text.plain(lock.getName())));
      case TABLE -> {
        if (!locks.isEmpty()) {
          printTable(locks, out);
        }
      }
    }
    out.flush();
  }

  private void printTable(List<LockState> locks, PrintWriter out) {
    Table table = new Table(output.style(), "LOCK", "MODE", "HELD BY", "FOR", "WAITING", "TOKEN");
    for (LockState lock : locks) {
      table.row(
          Text.plain(lock.getName()),
          LockText.mode(lock),
          LockText.heldBy(lock),
          LockText.heldFor(lock),
          Integer.toString(lock.getQueueLength()),
          LockText.token(lock));
    }
    table.print(out);
  }
}
