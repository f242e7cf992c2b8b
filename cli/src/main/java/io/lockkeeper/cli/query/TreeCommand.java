package io.lockkeeper.cli.query;

import com.google.gson.JsonObject;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.ListOptions;
import io.lockkeeper.cli.text.Style;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.LockState;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the names of the locks in use as a tree. */
@Command(
    name = "tree",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Shows the names of the locks in use as a tree, by \"/\", and of each branch how many are held and how many wait.",
      ""
    })
public final class TreeCommand implements Callable<Integer> {

  private static final int MAX_DEPTH = 64;

  @Spec private CommandSpec spec;

  @Option(
      names = "--depth",
      paramLabel = "COUNT",
      defaultValue = "64",
      description = "How many levels to show, 1 to 64. [default ${DEFAULT-VALUE}]")
  private int depth;

  @Mixin private PrefixParameter names;
  @Mixin private ListOptions output;
  @Mixin private ServerOptions options;

  /** What is below one part of names. */
  private static final class Branch {
    private final Map<String, Branch> below = new TreeMap<>();
    private int locks;
    private int held;
    private int waiting;

    /** Counts a lock in this branch and those on its way. */
    void add(LockState lock, List<String> parts) {
      locks++;
      held += lock.getHoldersCount() > 0 ? 1 : 0;
      waiting += lock.getQueueLength();
      if (!parts.isEmpty()) {
        below
            .computeIfAbsent(parts.get(0), part -> new Branch())
            .add(lock, parts.subList(1, parts.size()));
      }
    }
  }

  @Override
  public Integer call() {
    options.prepare();
    if (depth < 1 || depth > MAX_DEPTH) {
      throw new CliException(ExitCodes.USAGE, "--depth: must be 1 to 64, is " + depth);
    }
    Branch root = new Branch();
    for (LockState lock : LockPages.all(new Servers(options), names.prefix)) {
      root.add(lock, List.of(lock.getName().split("/")));
    }
    PrintWriter out = spec.commandLine().getOut();
    switch (output.format()) {
      case TABLE -> {
        out.println(
            root.held
                + " held, "
                + root.waiting
                + " waiting"
                + (names.prefix.isEmpty() ? "" : " under " + names.prefix));
        print(root, "", 1, out);
      }
      case JSON -> list(root, "", 1, true, out);
      case NAME -> list(root, "", 1, false, out);
    }
    out.flush();
    return ExitCodes.OK;
  }

  private void print(Branch branch, String indent, int level, PrintWriter out) {
    if (level > depth) {
      return;
    }
    Style style = output.style();
    int left = branch.below.size();
    for (Map.Entry<String, Branch> child : branch.below.entrySet()) {
      boolean last = --left == 0;
      Branch sub = child.getValue();
      out.println(
          indent
              + (last ? "└── " : "├── ")
              + Text.plain(child.getKey())
              + (sub.below.isEmpty() ? "" : "/")
              + "  "
              + style.dim(counts(sub)));
      print(sub, indent + (last ? "    " : "│   "), level + 1, out);
    }
  }

  private static String counts(Branch branch) {
    String waiting = branch.waiting == 0 ? "" : ", " + branch.waiting + " waiting";
    return (branch.locks == 1 && branch.held == 1 ? "held" : branch.held + " held") + waiting;
  }

  private void list(Branch branch, String path, int level, boolean json, PrintWriter out) {
    if (level > depth) {
      return;
    }
    for (Map.Entry<String, Branch> child : branch.below.entrySet()) {
      Branch sub = child.getValue();
      String name = path + child.getKey() + (sub.below.isEmpty() ? "" : "/");
      if (json) {
        JsonObject line = new JsonObject();
        line.addProperty("name", name);
        line.addProperty("locks", sub.locks);
        line.addProperty("held", sub.held);
        line.addProperty("waiting", sub.waiting);
        out.println(line);
      } else {
        out.println(Text.plain(name));
      }
      list(sub, path + child.getKey() + "/", level + 1, json, out);
    }
  }
}
