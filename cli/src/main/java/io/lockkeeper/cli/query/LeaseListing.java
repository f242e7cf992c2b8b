package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.ListOptions;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.LeaseState;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Mixin;

/** Lists leases; the options and the work of {@code leases} and {@code leases list}. */
final class LeaseListing {

  @Mixin private ListOptions output;
  @Mixin private ServerOptions options;

  /** Prints them, and returns the exit code. */
  int list(PrintWriter out, PrintWriter err) {
    options.prepare();
    Servers servers = new Servers(options);
    List<Servers.Answer<List<LeaseState>>> answers = LeaseLists.read(servers);
    List<String> failures =
        answers.stream()
            .filter(one -> one.answer().isEmpty())
            .map(one -> "  " + one.server() + ": " + one.failure())
            .toList();
    if (failures.size() == answers.size()) {
      throw new CliException(ExitCodes.UNAVAILABLE, servers.unavailable(failures));
    }
    failures.forEach(failure -> err.println("lockkeeper: not listed:" + failure.substring(1)));
    List<LeaseState> leases = LeaseLists.joined(answers);
    switch (output.format()) {
      case JSON -> leases.forEach(lease -> out.println(Json.line(lease)));
      case NAME -> leases.forEach(lease -> out.println(Text.plain(lease.getLeaseTag())));
      case TABLE -> print(leases, out, err);
    }
    out.flush();
    return failures.isEmpty() ? ExitCodes.OK : ExitCodes.FAILED;
  }

  private void print(List<LeaseState> leases, PrintWriter out, PrintWriter err) {
    if (leases.isEmpty()) {
      err.println("no lease that may be seen");
      return;
    }
    Table table = new Table(output.style(), "LEASE", "HOLDER", "REQUESTS", "TTL", "LEFT");
    for (LeaseState lease : leases) {
      table.row(
          Text.plain(lease.getLeaseTag()),
          lease.getHolder().isEmpty() ? LockText.NONE : Text.plain(lease.getHolder()),
          Integer.toString(lease.getAcquisitionCount()),
          ttl(lease),
          lease.hasRemaining() ? Text.age(lease.getRemaining()) : LockText.NONE);
    }
    table.print(out);
  }

  /** Returns how long the lease lives without a keep-alive, or that it is a stream. */
  static String ttl(LeaseState lease) {
    return lease.hasTtl() ? Text.age(lease.getTtl()) : "its stream";
  }
}
