package io.lockkeeper.server.security;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Who makes a call, as the transport or a token has proved it.
 *
 * <p>A name says where it comes from: a URI of a certificate as it is ({@code spiffe://...}),
 * {@code dns:} and a DNS name of a certificate, {@code subject:} and its distinguished name, {@code
 * jwt:} and the subject of a token, {@code token:} and the name of a static token.
 *
 * @param name what leases belong to, and audit and refusals say: the first of the names
 * @param names all names, any of which a rule of the policy may match
 */
public record Identity(String name, List<String> names) {

  /** The longest name, in bytes of UTF-8: it is kept with every lease. */
  public static final int MAX_NAME_BYTES = 512;

  /** Somebody who has proved nothing. */
  public static final Identity ANONYMOUS = of("anonymous");

  /**
   * Checks.
   *
   * @throws IllegalArgumentException if a name is empty or too long, or the first is not the name
   */
  public Identity {
    names = List.copyOf(names);
    if (names.isEmpty() || !names.get(0).equals(name)) {
      throw new IllegalArgumentException("the first of the names is the name");
    }
    for (String each : names) {
      int bytes = each.getBytes(StandardCharsets.UTF_8).length;
      if (bytes == 0 || bytes > MAX_NAME_BYTES) {
        throw new IllegalArgumentException(
            "an identity's name has 1 to " + MAX_NAME_BYTES + " bytes, this one has " + bytes);
      }
    }
  }

  /** Returns an identity with one name. */
  public static Identity of(String name) {
    return new Identity(name, List.of(name));
  }

  /** Returns whether nothing is proved. */
  public boolean isAnonymous() {
    return name.equals(ANONYMOUS.name());
  }

  @Override
  public String toString() {
    return name;
  }
}
