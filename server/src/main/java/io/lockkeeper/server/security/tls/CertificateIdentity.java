package io.lockkeeper.server.security.tls;

import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.UnauthenticatedException;
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
  private static final int URI = 6;
  private static final String SPIFFE = "spiffe://";

  /** Prefixes of names that come from elsewhere: a certificate must not give itself one. */
  private static final Set<String> OTHER_SOURCES = Set.of("dns", "subject", "jwt", "token");

  private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*(?=:)");

  private CertificateIdentity() {}

  /**
   * Returns who shows the certificate. Its names in this order: URIs ({@code spiffe://...} first),
   * {@code dns:} and each DNS name in lower case, {@code subject:} and the subject as in RFC 2253.
   * The common name alone is never a DNS name.
   *
   * @throws UnauthenticatedException if it has no name, too many, or one that cannot be used
   */
  public static Identity of(X509Certificate certificate) {
    List<List<?>> alternatives = alternatives(certificate);
    List<String> uris = ofType(alternatives, URI);
    uris.forEach(CertificateIdentity::checkScheme);
    List<String> names = new ArrayList<>();
    uris.stream().filter(uri -> uri.startsWith(SPIFFE)).forEach(names::add);
    uris.stream().filter(uri -> !uri.startsWith(SPIFFE)).forEach(names::add);
    ofType(alternatives, DNS).forEach(name -> names.add("dns:" + name.toLowerCase(Locale.ROOT)));
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

  private static void checkScheme(String uri) {
    String scheme =
        SCHEME
            .matcher(uri)
            .results()
            .findFirst()
            .filter(found -> found.start() == 0)
            .map(found -> found.group().toLowerCase(Locale.ROOT))
            .orElseThrow(
                () -> new UnauthenticatedException("a URI in the certificate has no scheme"));
    if (OTHER_SOURCES.contains(scheme)) {
      throw new UnauthenticatedException(
          "a URI in the certificate begins with " + scheme + ":, as only other names do");
    }
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
