package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** What a secured coordinator and its clients are started with: certificates, policy, tokens. */
record IdentityFiles(Path directory) {

  /** What certificates are made with. */
  static final String PROGRAM = "openssl";

  private static final int RULES = 1_000;
  private static final int RULES_BY_ONE_FOR_ALL = 10;
  private static final String IDENTITIES = "spiffe://bench.example/sa/";
  private static final String TOKEN = "lkt_ZtXk3vVq0bW9s5nJm1yC7rLh8dPgTfAeUiOoQwEzXcY";

  /** Makes all files. */
  static IdentityFiles in(Path directory) throws IOException, InterruptedException {
    IdentityFiles files = new IdentityFiles(Files.createDirectories(directory));
    files.certificate("server", "DNS:localhost,IP:127.0.0.1");
    files.certificate("load", "URI:" + IDENTITIES + "load");
    files.certificate("hostile", "URI:" + IDENTITIES + "hostile");
    files.certificate("rehearsal", "URI:" + IDENTITIES + "rehearsal");
    files.write(
        "clients.pem",
        files.read("load.pem") + files.read("hostile.pem") + files.read("rehearsal.pem"));
    files.write("policy.yaml", policy());
    files.write("token", TOKEN);
    files.write("tokens.yaml", "tokens:\n  - {name: load, sha256: " + sha256(TOKEN) + "}\n");
    return files;
  }

  /** Returns the settings of a coordinator that encrypts, and asks nobody who he is. */
  List<String> tls() {
    return List.of(
        "--tls-cert=" + directory.resolve("server.pem"),
        "--tls-key=" + directory.resolve("server.key"));
  }

  /** Returns what a coordinator that is secured as one is for production has besides. */
  List<String> identities() {
    return List.of(
        "--tls-client-ca=" + directory.resolve("clients.pem"),
        "--policy=" + directory.resolve("policy.yaml"),
        "--tokens=" + directory.resolve("tokens.yaml"),
        "--audit=" + directory.resolve("audit.log"));
  }

  /** Returns what a client that does not say who it is is started with. */
  List<String> authority() {
    return List.of(directory.resolve("server.pem").toString());
  }

  /** Returns what a client that shows the certificate of that name is started with. */
  List<String> certificateOf(String name) {
    return List.of(
        directory.resolve("server.pem").toString(),
        directory.resolve(name + ".pem").toString(),
        directory.resolve(name + ".key").toString());
  }

  /** Returns what a client that sends the token is started with. */
  List<String> token() {
    return List.of(
        directory.resolve("server.pem").toString(), directory.resolve("token").toString());
  }

  /** Makes a certificate that is its own authority. */
  private void certificate(String name, String alternativeNames)
      throws IOException, InterruptedException {
    List<String> command =
        List.of(
            PROGRAM,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=" + name,
            "-addext",
            "subjectAltName=" + alternativeNames,
            "-keyout",
            name + ".key",
            "-out",
            name + ".pem");
    try (Child made = Child.start(PROGRAM + "-" + name, directory, command)) {
      made.awaitEnd();
    }
  }

  /**
   * Returns the policy: each service may use locks of its own, and each tenth rule lets all of them
   * look at something. The load's own rule is one of the last.
   */
  private static String policy() {
    StringBuilder rules = new StringBuilder("rules:\n");
    for (int i = 0; i < RULES - 3; i++) {
      boolean isForAll = i % RULES_BY_ONE_FOR_ALL == 0;
      rules.append(
          rule(
              isForAll ? IDENTITIES + "**" : IDENTITIES + "service-" + i,
              (isForAll ? "shared-" : "service-") + i + "/*",
              isForAll ? "read, watch" : "read, acquire, watch"));
    }
    return rules
        .append(rule(IDENTITIES + "load\", \"token:load", "bench/*", "read, acquire, watch"))
        .append(rule(IDENTITIES + "hostile", "hostile/*", "read, acquire, watch"))
        .append(rule(IDENTITIES + "rehearsal", "hostile/*", "read, acquire, watch"))
        // All of the load's clients are one identity here. The hostile one has the default.
        .append("limits:\n")
        .append("  - {identities: [\"" + IDENTITIES + "load\", \"token:load\", ")
        .append("\"" + IDENTITIES + "rehearsal\"], ")
        .append("requests-per-second: 1000000}\n")
        .toString();
  }

  private static String rule(String identity, String locks, String rights) {
    return String.format(
        "  - {identities: [\"%s\"], locks: [\"%s\"], rights: [%s]}%n", identity, locks, rights);
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private String read(String file) throws IOException {
    return Files.readString(directory.resolve(file));
  }

  private void write(String file, String content) throws IOException {
    Files.writeString(directory.resolve(file), content);
  }
}
