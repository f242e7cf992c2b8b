package io.lockkeeper.server.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A certificate that is its own authority, made with the JDK's keytool.
 *
 * @param certificate the certificate (PEM)
 * @param both the certificate and its key (PEM, PKCS#8)
 */
public record TlsFiles(Path certificate, Path both) {

  private static final String PASSWORD = "changeit";

  /** Makes one for a host, such as {@code dns:localhost} or {@code ip:127.0.0.1}. */
  public static TlsFiles of(Path directory, String name, String host) {
    Path store = directory.resolve(name + ".p12");
    try {
      keytool(store, name, host);
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(store)) {
        keys.load(in, PASSWORD.toCharArray());
      }
      String certificate = pem("CERTIFICATE", keys.getCertificate(name).getEncoded());
      String key = pem("PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
      return new TlsFiles(
          Files.writeString(directory.resolve(name + ".pem"), certificate),
          Files.writeString(directory.resolve(name + "-both.pem"), certificate + key));
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void keytool(Path store, String name, String host)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    name,
                    "-keyalg",
                    "EC",
                    "-groupname",
                    "secp256r1",
                    "-dname",
                    "CN=" + name,
                    "-ext",
                    "san=" + host,
                    "-validity",
                    "2",
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    PASSWORD))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IllegalStateException("keytool: " + said);
    }
  }

  private static String pem(String label, byte[] bytes) {
    String body =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(bytes);
    return "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n";
  }
}
