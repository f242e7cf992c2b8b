package io.lockkeeper.server.rpc;

import io.lockkeeper.server.security.tls.TlsFiles;
import io.lockkeeper.server.security.tls.TlsPaths;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Certificate authorities that sign certificates, for "localhost" if need be, in PEM files. */
public final class Certificates {

  private final Path folder;
  private final X500Name name;
  private final KeyPair keys;

  /** The certificate of the authority. */
  public final Path authority;

  /** A certificate with its key, in files and parsed. */
  public record Signed(Path certificate, Path key, X509Certificate parsed) {}

  /**
   * What a certificate says.
   *
   * @param subject the distinguished name
   * @param names the alternative names
   * @param from when it begins to be valid
   * @param until when it ends to be
   */
  public record Shape(X500Name subject, List<GeneralName> names, Instant from, Instant until) {

    /** A valid one for localhost. */
    public static Shape of(String commonName) {
      Instant now = Instant.now();
      return new Shape(
          new X500Name("CN=" + commonName),
          List.of(new GeneralName(GeneralName.dNSName, "localhost")),
          now.minus(Duration.ofHours(1)),
          now.plus(Duration.ofDays(1)));
    }

    /** The same with another subject. */
    public Shape withSubject(String distinguishedName) {
      return new Shape(new X500Name(distinguishedName), names, from, until);
    }

    /** The same with other alternative names. */
    public Shape withNames(GeneralName... others) {
      return new Shape(subject, List.of(others), from, until);
    }

    /** The same at another time. */
    public Shape withValidity(Instant since, Instant limit) {
      return new Shape(subject, names, since, limit);
    }
  }

  private Certificates(Path folder, X500Name name, KeyPair keys, Path authority) {
    this.folder = folder;
    this.name = name;
    this.keys = keys;
    this.authority = authority;
  }

  /** Makes an authority that signs itself. */
  public static Certificates authority(Path folder, String name) throws Exception {
    return authority(folder, name, Shape.of(name));
  }

  /** Makes an authority that signs itself. */
  public static Certificates authority(Path folder, String file, Shape shape) throws Exception {
    KeyPair own = newKeys();
    Path pem = folder.resolve(file + ".pem");
    Certificates made = new Certificates(folder, shape.subject(), own, pem);
    write(pem, made.certificate(shape, own, true));
    return made;
  }

  /** Makes an authority that this one signs. */
  public Certificates intermediate(String file) throws Exception {
    KeyPair own = newKeys();
    Path pem = folder.resolve(file + ".pem");
    Shape shape = Shape.of(file);
    write(pem, certificate(shape, own, true));
    return new Certificates(folder, shape.subject(), own, pem);
  }

  /** Signs a valid certificate for localhost. */
  public Signed sign(String commonName) throws Exception {
    return sign(commonName, Shape.of(commonName));
  }

  /** Signs a certificate, into files of that name. */
  public Signed sign(String file, Shape shape) throws Exception {
    return sign(file, shape, newKeys());
  }

  /** Signs a valid certificate for localhost with an RSA key. */
  public Signed signRsa(String file) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    return sign(file, Shape.of(file), generator.generateKeyPair());
  }

  private Signed sign(String file, Shape shape, KeyPair own) throws Exception {
    Path certificate = folder.resolve(file + ".pem");
    Path key = folder.resolve(file + ".key");
    X509Certificate signed = certificate(shape, own, false);
    write(certificate, signed);
    write(key, new JcaPKCS8Generator(own.getPrivate(), null));
    return new Signed(certificate, key, signed);
  }

  /** Returns the TLS of a server that shows {@code own}; certificates of clients are demanded. */
  static GrpcSettings.Tls tls(Signed own, Optional<Path> clientCa) throws IOException {
    return tls(own, clientCa, Optional.empty());
  }

  static GrpcSettings.Tls tls(Signed own, Optional<Path> clientCa, Optional<Path> peerCa)
      throws IOException {
    TlsPaths paths = new TlsPaths(own.certificate(), own.key(), clientCa, peerCa);
    return new GrpcSettings.Tls(TlsFiles.open(paths, Clock.systemUTC()), clientCa.isPresent());
  }

  private static KeyPair newKeys() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    return generator.generateKeyPair();
  }

  private X509Certificate certificate(Shape shape, KeyPair own, boolean isAuthority)
      throws IOException, OperatorCreationException, GeneralSecurityException {
    X509v3CertificateBuilder builder =
        new JcaX509v3CertificateBuilder(
            name,
            BigInteger.valueOf(System.nanoTime()),
            Date.from(shape.from()),
            Date.from(shape.until()),
            shape.subject(),
            own.getPublic());
    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(isAuthority));
    if (!shape.names().isEmpty()) {
      builder.addExtension(
          Extension.subjectAlternativeName,
          shape.subject().getRDNs().length == 0,
          new GeneralNames(shape.names().toArray(GeneralName[]::new)));
    }
    return new JcaX509CertificateConverter()
        .getCertificate(
            builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate())));
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
