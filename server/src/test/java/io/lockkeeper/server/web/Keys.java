package io.lockkeeper.server.web;

import java.math.BigInteger;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** A key with a certificate for 127.0.0.1 that it has signed itself. */
final class Keys {

  private static final char[] PASSWORD = {};

  private final KeyPair pair;
  private final X509Certificate certificate;

  private Keys(KeyPair pair, X509Certificate certificate) {
    this.pair = pair;
    this.certificate = certificate;
  }

  static Keys of(String subject) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    KeyPair pair = generator.generateKeyPair();
    X500Name name = new X500Name("CN=" + subject);
    Instant now = Instant.now();
    var builder =
        new JcaX509v3CertificateBuilder(
            name,
            BigInteger.ONE,
            Date.from(now.minus(Duration.ofHours(1))),
            Date.from(now.plus(Duration.ofDays(1))),
            name,
            pair.getPublic());
    builder.addExtension(
        Extension.subjectAlternativeName,
        false,
        new GeneralNames(new GeneralName(GeneralName.iPAddress, "127.0.0.1")));
    var signed =
        builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(pair.getPrivate()));
    return new Keys(pair, new JcaX509CertificateConverter().getCertificate(signed));
  }

  /** Returns what proves itself by this key. */
  X509ExtendedKeyManager manager() throws Exception {
    KeyStore store = empty();
    store.setKeyEntry("own", pair.getPrivate(), PASSWORD, new X509Certificate[] {certificate});
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, PASSWORD);
    return (X509ExtendedKeyManager) factory.getKeyManagers()[0];
  }

  /** Returns what believes this certificate alone. */
  X509ExtendedTrustManager trust() throws Exception {
    KeyStore store = empty();
    store.setCertificateEntry("known", certificate);
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
  }

  /** Returns a visitor's side that believes this certificate, and shows {@code own} if any. */
  SSLContext visitedWith(X509ExtendedKeyManager... own) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own, new X509ExtendedTrustManager[] {trust()}, null);
    return context;
  }

  private static KeyStore empty() throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, PASSWORD);
    return store;
  }
}
