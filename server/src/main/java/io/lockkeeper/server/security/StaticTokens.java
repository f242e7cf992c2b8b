package io.lockkeeper.server.security;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Bearer tokens whose digests are in a file. An identity's name is {@code token:} and the name that
 * the file gives; two entries may have one name, so that a token can be replaced without a gap.
 *
 * <p>The digest is a plain SHA-256, and no password hash: a token is 256 random bits, so nobody can
 * find it by trying, however fast he tries, and no salt is needed since no two are the same. A slow
 * hash would only let strangers keep the server busy.
 */
public final class StaticTokens {

  /** How many a file may have: each call compares with all of them. */
  static final int MAX_TOKENS = 1_000;

  /** What every token of ours begins with, so that scanners recognize it where it should not be. */
  private static final String PREFIX = "lkt_";

  private static final int RANDOM_BYTES = 32;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

  private final List<Identity> identities = new ArrayList<>();

  /** The digests, each at the place of its identity. */
  private final List<byte[]> digests = new ArrayList<>();

  private StaticTokens() {}

  /**
   * Reads the content of a file of tokens.
   *
   * @throws IllegalArgumentException if it is not one; the message says which line
   */
  public static StaticTokens parse(byte[] file) {
    StaticTokens tokens = new StaticTokens();
    Set<String> seen = new HashSet<>();
    YamlValue list = YamlValue.parse(file).mapping("a file of tokens", "tokens").required("tokens");
    for (YamlValue value : list.list("tokens")) {
      String what = "token " + (tokens.identities.size() + 1);
      YamlValue.Mapping entry = value.mapping(what, "name", "sha256");
      if (tokens.identities.size() == MAX_TOKENS) {
        throw value.error("more than " + MAX_TOKENS + " tokens");
      }
      YamlValue name = entry.required("name");
      Identity identity =
          identity(name.text(entry.at("name")))
              .orElseThrow(() -> name.error(entry.at("name") + " " + NAME_RULE));
      YamlValue digest = entry.required("sha256");
      String hex = digest.text(entry.at("sha256"));
      if (!DIGEST.matcher(hex).matches()) {
        throw digest.error(
            entry.at("sha256")
                + " must be 64 digits, 0 to 9 and a to f: lockkeeper token prints it");
      }
      if (!seen.add(hex)) {
        throw digest.error(entry.at("sha256") + ": another entry has the same token");
      }
      tokens.identities.add(identity);
      tokens.digests.add(HexFormat.of().parseHex(hex));
    }
    return tokens;
  }

  private static final String NAME_RULE =
      "must be 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit";

  private static Optional<Identity> identity(String name) {
    return NAME.matcher(name).matches()
        ? Optional.of(Identity.of("token:" + name))
        : Optional.empty();
  }

  /** Returns whose token it is. Takes as long whichever it is, or if it is none. */
  Optional<Identity> identityOf(String token) {
    byte[] digest = Sha256.of(token);
    int found = -1;
    for (int i = 0; i < digests.size(); i++) {
      found = MessageDigest.isEqual(digests.get(i), digest) ? i : found;
    }
    return found < 0 ? Optional.empty() : Optional.of(identities.get(found));
  }

  /** Returns who has a token, without repetition, in the order of the file. */
  public List<Identity> identities() {
    return identities.stream().distinct().toList();
  }

  /**
   * A token that was just made. It is known nowhere else.
   *
   * @param token what the client shows
   * @param line the entry for the server's file
   */
  public record Fresh(String token, String line) {}

  /**
   * Makes a token.
   *
   * @throws IllegalArgumentException if {@code name} cannot be one
   */
  public static Fresh make(String name, SecureRandom random) {
    if (identity(name).isEmpty()) {
      throw new IllegalArgumentException("a token's name " + NAME_RULE);
    }
    byte[] bytes = new byte[RANDOM_BYTES];
    random.nextBytes(bytes);
    String token = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    String digest = HexFormat.of().formatHex(Sha256.of(token));
    return new Fresh(token, "- {name: \"" + name + "\", sha256: \"" + digest + "\"}");
  }
}
