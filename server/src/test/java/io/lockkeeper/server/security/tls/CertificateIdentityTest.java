package io.lockkeeper.server.security.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Shape;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.UnauthenticatedException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.stream.IntStream;
import org.bouncycastle.asn1.x509.GeneralName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CertificateIdentityTest {

  @TempDir private Path folder;

  private X509Certificate certificate(Shape shape) throws Exception {
    return Certificates.authority(folder, "ca").sign("leaf", shape).parsed();
  }

  private static GeneralName uri(String name) {
    return new GeneralName(GeneralName.uniformResourceIdentifier, name);
  }

  private static GeneralName dns(String name) {
    return new GeneralName(GeneralName.dNSName, name);
  }

  @Test
  void namesComeInTheOrderOfHowMuchTheySay() throws Exception {
    // Given
    X509Certificate certificate =
        certificate(
            Shape.of("x")
                .withSubject("CN=Shop,O=Acme")
                .withNames(
                    dns("Shop.Example"),
                    uri("https://acme/shop"),
                    new GeneralName(GeneralName.iPAddress, "10.0.0.1"),
                    uri("spiffe://acme/shop"),
                    dns("b")));
    // When
    Identity identity = CertificateIdentity.of(certificate);
    // Then
    assertThat(identity.name()).isEqualTo("spiffe://acme/shop");
    assertThat(identity.names())
        .containsExactly(
            "spiffe://acme/shop",
            "https://acme/shop",
            "dns:shop.example",
            "dns:b",
            "subject:O=Acme,CN=Shop");
  }

  @Test
  void commonNameAloneIsNoDnsName() throws Exception {
    // When
    Identity identity = CertificateIdentity.of(certificate(Shape.of("shop.example").withNames()));
    // Then
    assertThat(identity.names()).containsExactly("subject:CN=shop.example");
  }

  @Test
  void certificateWithoutASubjectIsNamedByWhatElseItHas() throws Exception {
    // When
    Identity identity =
        CertificateIdentity.of(certificate(Shape.of("x").withSubject("").withNames(dns("a"))));
    // Then
    assertThat(identity.names()).containsExactly("dns:a");
  }

  @Test
  void certificateThatNamesNobodyIsRefused() throws Exception {
    // Given
    X509Certificate nameless =
        certificate(
            Shape.of("x")
                .withSubject("")
                .withNames(new GeneralName(GeneralName.iPAddress, "10.0.0.1")));
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(nameless))
        .withMessage("the certificate names nobody");
  }

  @ParameterizedTest
  @ValueSource(strings = {"token:admin", "JWT:admin", "dns:shop", "subject:CN=admin"})
  void uriThatLooksLikeANameFromElsewhereIsRefused(String uri) throws Exception {
    // Given
    X509Certificate pretender = certificate(Shape.of("x").withNames(uri(uri)));
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(pretender))
        .withMessageContaining("as only other names do");
  }

  @ParameterizedTest
  @ValueSource(strings = {"anonymous", "", "spiffe://a/\n", "spiffe://a/\0", "spiffe://a/\u007f"})
  void malformedNameIsRefusedAndNotLeftAway(String uri) throws Exception {
    // Given: without it the certificate would be somebody else's
    X509Certificate broken = certificate(Shape.of("x").withNames(uri(uri), dns("admin")));
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(broken))
        .withMessageContaining("malformed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spiffe://acme/shop?admin",
        "spiffe://acme/shop#admin",
        "spiffe://acme/shop/../admin",
        "spiffe://acme/./shop",
        "spiffe://acme//shop",
        "spiffe://acme/shop/",
        "spiffe://acme/sh%6fp",
        "spiffe://acme:8443/shop",
        "spiffe://user@acme/shop",
        "spiffe://Acme/shop",
        "SPIFFE://acme/shop",
        "https://acme/shop/../admin",
      })
  void uriWithASecondSpellingIsRefused(String uri) throws Exception {
    // Given: a pattern of the policy would match what it only looks like
    X509Certificate broken = certificate(Shape.of("x").withNames(uri(uri)));
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(broken))
        .withMessageStartingWith(uri.startsWith("https") ? "a URI" : "a SPIFFE ID");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b.shop.example", "a..shop.example", ".shop.example", "a/b", "a."})
  void malformedDnsNameIsRefused(String name) throws Exception {
    // Given
    X509Certificate broken = certificate(Shape.of("x").withNames(dns(name)));
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(broken))
        .withMessage("a DNS name in the certificate is malformed");
  }

  @Test
  void malformedNamesBehindASpiffeIdAreLeftOut() throws Exception {
    // Given: the SPIFFE ID is the identity with and without them
    X509Certificate certificate =
        certificate(
            Shape.of("x")
                .withNames(
                    uri("https://acme//shop"),
                    uri("https://acme/shop"),
                    dns("shop.example."),
                    dns("shop.example"),
                    uri("spiffe://acme/shop")));
    // When
    Identity identity = CertificateIdentity.of(certificate);
    // Then
    assertThat(identity.names())
        .containsExactly(
            "spiffe://acme/shop", "https://acme/shop", "dns:shop.example", "subject:CN=x");
  }

  @Test
  void subjectThatTurnsTheTextAroundIsRefused() throws Exception {
    // Given
    X509Certificate broken =
        certificate(Shape.of("x").withSubject("CN=nimda\u202eresu").withNames());
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(broken))
        .withMessageContaining("control characters");
  }

  @Test
  void nameBeyondTheLimitIsRefusedAndNotCut() throws Exception {
    // Given
    String longest = "spiffe://a/" + "x".repeat(Identity.MAX_NAME_BYTES - 11);
    X509Certificate fits = certificate(Shape.of("x").withNames(uri(longest)));
    X509Certificate doesNot = certificate(Shape.of("x").withNames(uri(longest + "x")));
    // When // Then
    assertThat(CertificateIdentity.of(fits).name()).isEqualTo(longest);
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(doesNot))
        .withMessageContaining("1 to 512 bytes, this one has 513");
  }

  @Test
  void moreNamesThanAnybodyNeedsAreRefused() throws Exception {
    // Given
    GeneralName[] names =
        IntStream.range(0, 64).mapToObj(i -> dns("n" + i)).toArray(GeneralName[]::new);
    X509Certificate crowd = certificate(Shape.of("x").withNames(names));
    // When // Then
    assertThatExceptionOfType(UnauthenticatedException.class)
        .isThrownBy(() -> CertificateIdentity.of(crowd))
        .withMessageContaining("at most 64 names, this one has 65");
  }
}
