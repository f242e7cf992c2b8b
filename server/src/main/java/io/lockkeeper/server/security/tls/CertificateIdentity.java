package io.lockkeeper.server.security.tls;

import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.UnauthenticatedException;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.security.auth.x500.X500Principal;

/** Whom a certificate names. The caller has checked that it is to be believed. */
public final class CertificateIdentity {

  private static final String ALTERNATIVE_NAMES = "2.5.29.17";
  private static final int DNS = 2;
  private static final int URI_NAME = 6;
  private static final String SPIFFE = "spiffe://";

  /** Prefixes of names that come from elsewhere: a certificate must not give itself one. */
  private static final Set<String> OTHER_SOURCES = Set.of("dns", "subject", "jwt", "token");

  /** A SPIFFE ID: a trust domain and a path, without query, fragment, port and dot segments. */
  private static final Pattern SPIFFE_ID =
      Pattern.compile("spiffe://[a-z0-9._-]{1,255}(/(?!\\.\\.?(/|$))[A-Za-z0-9._-]+)*");

  /** A DNS name (RFC 5280, 4.2.1.6), also with underscores or a first label {@code *}. */
  private static final Pattern DNS_NAME =
      Pattern.compile("(\\*\\.)?[A-Za-z0-9_-]{1,63}(\\.[A-Za-z0-9_-]{1,63})*");

  private CertificateIdentity() {}

  /**
   * Returns who shows the certificate. Its names in this order: URIs ({@code spiffe://...} first),
   * {@code dns:} and each DNS name in lower case, {@code subject:} and the subject as in RFC 2253.
   * The common name alone is never a DNS name.
   *
   * <p>A malformed name rejects the certificate: without that name it would be somebody else's. If
   * there is a SPIFFE ID, which is the first name in any case, a malformed DNS name and a URI with
   * an empty or a dot segment are left out instead.
   *
   * @throws UnauthenticatedException if it has no name, too many, or one that cannot be used
   */
  public static Identity of(X509Certificate certificate) {
    List<List<?>> alternatives = alternatives(certificate);
    List<String> uris = ofType(alternatives, URI_NAME);
    uris.forEach(CertificateIdentity::checkUri);
    List<String> names = new ArrayList<>();
    uris.stream().filter(uri -> uri.startsWith(SPIFFE)).forEach(names::add);
    boolean named = !names.isEmpty();
    for (String uri : uris) {
      if (!uri.startsWith(SPIFFE)
          && isUsable(
              URI.create(uri).normalize().toString().equals(uri),
              named,
              "a URI in the certificate has a segment '.' or '..', or an empty one")) {
        names.add(uri);
      }
    }
    for (String name : ofType(alternatives, DNS)) {
      if (isUsable(
          DNS_NAME.matcher(name).matches(), named, "a DNS name in the certificate is malformed")) {
        names.add("dns:" + name.toLowerCase(Locale.ROOT));
      }
    }
    String subject = certificate.getSubjectX500Principal().getName(X500Principal.RFC2253);
    if (!subject.isEmpty()) {
      names.add("subject:" + subject);
    }
    return identity(names.stream().distinct().toList());
  }

  private static Identity identity(List<String> names) {
    if (names.isEmpty()) {
      throw new UnauthenticatedException("the certificate names nobody");
    }
    try {
      return new Identity(names.get(0), names);
    } catch (IllegalArgumentException e) {
      throw new UnauthenticatedException("the names in the certificate: " + e.getMessage());
    }
  }

  /** Patterns of the policy compare text, so one name must not have several spellings. */
  private static void checkUri(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new UnauthenticatedException("a URI in the certificate is malformed");
    }
    if (uri.getScheme() == null) {
      throw new UnauthenticatedException("a URI in the certificate has no scheme");
    }
    String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
    if (OTHER_SOURCES.contains(scheme)) {
      throw new UnauthenticatedException(
          "a URI in the certificate begins with " + scheme + ":, as only other names do");
    }
    if (scheme.equals("spiffe") && !SPIFFE_ID.matcher(text).matches()) {
      throw new UnauthenticatedException(
          "a SPIFFE ID in the certificate must be spiffe://, a trust domain in lower case, and"
              + " segments of letters, digits, '.', '_' and '-', none of them '.' or '..'");
    }
  }

  private static boolean isUsable(boolean wellFormed, boolean named, String problem) {
    if (!wellFormed && !named) {
      throw new UnauthenticatedException(problem);
    }
    return wellFormed;
  }

  private static List<List<?>> alternatives(X509Certificate certificate) {
    try {
      Collection<List<?>> found = certificate.getSubjectAlternativeNames();
      // Java leaves all names away where one is malformed; what is left would be another identity.
      if (found == null && certificate.getExtensionValue(ALTERNATIVE_NAMES) != null) {
        throw new CertificateParsingException();
      }
      return found == null ? List.of() : List.copyOf(found);
    } catch (CertificateParsingException e) {
      throw new UnauthenticatedException("the certificate's alternative names are malformed");
    }
  }

  private static List<String> ofType(List<List<?>> alternatives, int type) {
    return alternatives.stream()
        .filter(each -> Objects.equals(each.get(0), type))
        .flatMap(each -> each.get(1) instanceof String name ? Stream.of(name) : Stream.empty())
        .toList();
  }
}
