package io.lockkeeper.server.rpc;

import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Certificate authorities that sign certificates for "localhost", in PEM files. */
final class Certificates {

  private final Path folder;
  private final String name;
  private final KeyPair keys;

  /** The certificate of the authority. */
  final Path authority;

  /** A certificate with its key. */
  record Signed(Path certificate, Path key) {}

  private Certificates(Path folder, String name) throws Exception {
    this.folder = folder;
    this.name = name;
    this.keys = newKeys();
    this.authority = folder.resolve(name + ".pem");
    write(authority, certificate(name, keys, true));
  }

  static Certificates authority(Path folder, String name) throws Exception {
    return new Certificates(folder, name);
  }

  Signed sign(String subject) throws Exception {
    KeyPair own = newKeys();
    Path certificate = folder.resolve(subject + ".pem");
    Path key = folder.resolve(subject + ".key");
    write(certificate, certificate(subject, own, false));
    write(key, new JcaPKCS8Generator(own.getPrivate(), null));
    return new Signed(certificate, key);
  }

  private static KeyPair newKeys() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    return generator.generateKeyPair();
  }

  private Object certificate(String subject, KeyPair own, boolean isAuthority)
      throws IOException, OperatorCreationException {
    Instant now = Instant.now();
    X509v3CertificateBuilder builder =
        new JcaX509v3CertificateBuilder(
            new X500Name("CN=" + name),
            BigInteger.valueOf(System.nanoTime()),
            Date.from(now.minus(Duration.ofHours(1))),
            Date.from(now.plus(Duration.ofDays(1))),
            new X500Name("CN=" + subject),
            own.getPublic());
    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(isAuthority));
    builder.addExtension(
        Extension.subjectAlternativeName,
        false,
        new GeneralNames(new GeneralName(GeneralName.dNSName, "localhost")));
    return builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate()));
  }

  private static void write(Path file, Object content) throws IOException {
    StringWriter text = new StringWriter();
    try (Writer out = text;
        JcaPEMWriter pem = new JcaPEMWriter(out)) {
      pem.writeObject(content);
    }
    Files.writeString(file, text.toString());
  }
}
