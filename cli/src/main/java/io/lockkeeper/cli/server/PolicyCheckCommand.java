package io.lockkeeper.cli.server;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.security.Explanation;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.LimitKey;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Policy;
import io.lockkeeper.server.security.ReloadedFile;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.server.security.StaticTokens;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Says whether a policy's file is good, and what it decides. */
@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Says whether a policy's file is good, and what its rules are. With --identity, --right and --lock it says instead"
          + " whether that is allowed, by which rule, and which limits count.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:The files are good, and what was asked for is allowed.",
      "1:What was asked for is denied.",
      "2:A file is wrong, or the command line."
    })
final class PolicyCheckCommand implements Callable<Integer> {

  private static final int MAX_NEAR = 20;

  @Spec private CommandSpec spec;

  @Option(
      names = "--policy",
      paramLabel = "FILE",
      required = true,
      description = "The policy's file.")
  private Path policyFile;

  @Option(
      names = "--tokens",
      paramLabel = "FILE",
      description = "The file of static tokens, to be checked as well.")
  private Optional<Path> tokensFile = Optional.empty();

  @Option(
      names = "--json",
      description = "Print JSON: one object for each rule, one to a line, or one for the decision.")
  private boolean json;

  @ArgGroup(exclusive = false, heading = "%nOne decision:%n")
  private Question question;

  /** Who wants to do what. */
  static final class Question {

    @Option(
        names = "--identity",
        paramLabel = "NAME",
        required = true,
        description =
            "Who: jwt:SUBJECT, token:NAME, dns:NAME, spiffe://..., subject:..., or anonymous. Several times for one who"
                + " has several names.")
    private List<String> names;

    @Option(
        names = "--right",
        paramLabel = "RIGHT",
        required = true,
        description =
            "What: read, acquire-shared, acquire, request-release, watch, release-others, configure or admin.")
    private String right;

    @Option(names = "--lock", paramLabel = "LOCK", required = true, description = "On which lock.")
    private String lock;
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Policy policy = read(policyFile, Policy::parse);
    Optional<StaticTokens> tokens = tokensFile.map(file -> read(file, StaticTokens::parse));
    try {
      if (question != null) {
        return decide(policy, question, out);
      }
      if (json) {
        policy.describe().forEach(rule -> out.println(toJson(rule)));
        return ExitCodes.OK;
      }
      describe(policy, out);
      tokens.ifPresent(known -> describe(known, policy, out));
      return ExitCodes.OK;
    } finally {
      out.flush();
    }
  }

  private static <T> T read(Path file, ReloadedFile.Parser<T> parser) {
    try {
      return new ReloadedFile<>(file, parser).get();
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, Text.plain(String.valueOf(e.getMessage())), e);
    }
  }

  private int decide(Policy policy, Question question, PrintWriter out) {
    Identity identity;
    LockName lock;
    try {
      identity = new Identity(question.names.get(0), question.names);
      question.names.forEach(PolicyCheckCommand::requireKind);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, "--identity: " + e.getMessage(), e);
    }
    try {
      lock = new LockName(question.lock);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, "--lock: " + e.getMessage(), e);
    }
    Right right =
        Right.ofKey(question.right)
            .orElseThrow(
                () ->
                    new CliException(
                        ExitCodes.USAGE,
                        "--right: \""
                            + Text.plain(question.right)
                            + "\" is no right; there are "
                            + Arrays.stream(Right.values())
                                .map(Right::key)
                                .collect(Collectors.joining(", "))));
    Explanation explanation = policy.explain(identity, right, lock);
    if (json) {
      out.println(toJson(explanation));
      return explanation.isPermitted() ? ExitCodes.OK : ExitCodes.FAILED;
    }
    String who = Text.plain(String.join(" = ", identity.names()));
    String what = right.key() + " on " + Text.plain(lock.value());
    if (explanation.isPermitted()) {
      out.println("ALLOWED: " + who + " has " + what + ", by " + explanation.rule().orElseThrow());
      describeLimits(policy, identity, lock, out);
      return ExitCodes.OK;
    }
    out.println("DENIED: " + who + " does not have " + what);
    if (explanation.near().isEmpty()) {
      out.println("No rule means this identity.");
    }
    explanation.near().stream().limit(MAX_NEAR).forEach(near -> out.println("  " + near));
    int more = explanation.near().size() - MAX_NEAR;
    if (more > 0) {
      out.println("  ... and " + more + " rules more that mean this identity");
    }
    return ExitCodes.FAILED;
  }

  private static JsonObject toJson(Explanation explanation) {
    JsonObject decision = new JsonObject();
    decision.addProperty("allowed", explanation.isPermitted());
    explanation.rule().ifPresent(rule -> decision.addProperty("rule", rule));
    JsonArray near = new JsonArray();
    explanation.near().stream().limit(MAX_NEAR).forEach(near::add);
    decision.add("near", near);
    return decision;
  }

  private static JsonObject toJson(Policy.RuleText rule) {
    JsonObject line = new JsonObject();
    line.addProperty("rule", rule.number());
    line.addProperty("name", rule.name());
    line.addProperty("who", rule.identities());
    line.addProperty("locks", rule.locks());
    line.addProperty("rights", rule.rights());
    return line;
  }

  private static void describeLimits(
      Policy policy, Identity identity, LockName lock, PrintWriter out) {
    Limits limits = policy.limitsOf(identity);
    out.println(
        "  limits"
            + (limits.equals(Limits.DEFAULTS) ? " (the defaults)" : "")
            + ": "
            + Stream.of(LimitKey.values())
                .map(limit -> limit.key() + " " + limit.format(limits.get(limit)))
                .collect(Collectors.joining(", ")));
    int shared = policy.maxAcquisitionsOf(lock.namespace());
    if (shared < Integer.MAX_VALUE) {
      out.println(
          "  all together in namespace "
              + Text.plain(lock.namespace())
              + ": acquisitions "
              + shared);
    }
  }

  /** Refuses what no caller is called: a decision on it would answer another question. */
  private static void requireKind(String name) {
    if (name.indexOf(':') < 0 && !name.equals(Identity.ANONYMOUS.name())) {
      throw new IllegalArgumentException(
          "\""
              + Text.plain(name)
              + "\" is nobody's name: one begins with jwt:, token:, dns:, subject: or spiffe://, or is anonymous");
    }
  }

  private void describe(Policy policy, PrintWriter out) {
    List<Policy.RuleText> rules = policy.describe();
    out.println(policyFile + " is good: " + counted(rules.size(), "rule") + ".");
    for (Policy.RuleText rule : rules) {
      out.println();
      out.println("rule " + rule.number() + (rule.name().isEmpty() ? "" : ": " + rule.name()));
      out.println("  who     " + Text.plain(rule.identities()));
      out.println("  locks   " + Text.plain(rule.locks()));
      out.println("  rights  " + rule.rights());
    }
  }

  private void describe(StaticTokens tokens, Policy policy, PrintWriter out) {
    List<Identity> identities = tokens.identities();
    out.println();
    out.println(tokensFile.orElseThrow() + " is good: " + counted(identities.size(), "name") + ".");
    identities.stream()
        .filter(identity -> !policy.means(identity))
        .forEach(identity -> out.println("  " + identity + " may do nothing: no rule means it"));
  }

  private static String counted(int count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }
}
