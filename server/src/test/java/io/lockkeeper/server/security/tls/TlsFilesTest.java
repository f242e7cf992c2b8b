package io.lockkeeper.server.security.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Shape;
import io.lockkeeper.server.rpc.Certificates.Signed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class TlsFilesTest {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration DAY = Duration.ofDays(1);

  @TempDir private Path folder;

  private final Instant start = Instant.now();
  private final SetClock clock = new SetClock();
  private final Logger logger = (Logger) LoggerFactory.getLogger(TlsFiles.class);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  private final class SetClock extends Clock {
    private Instant now = start;

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return now;
    }
  }

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(logged);
  }

  private List<String> told(Level level) {
    return logged.list.stream()
        .filter(event -> event.getLevel().equals(level))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  private TlsFiles open(Signed own) throws IOException {
    return open(own, Optional.empty(), Optional.empty());
  }

  private TlsFiles open(Signed own, Optional<Path> clientCa, Optional<Path> peerCa)
      throws IOException {
    return TlsFiles.open(new TlsPaths(own.certificate(), own.key(), clientCa, peerCa), clock);
  }

  private void assertThatItIsRefused(Signed own, Path named, String why) {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> open(own))
        .withMessageStartingWith(named + ": ")
        .withMessageContaining(why);
  }

  private Certificates authority(String name) throws Exception {
    return Certificates.authority(folder, name);
  }

  private static X509Certificate shown(TlsFiles files) {
    String alias = files.keys().chooseEngineServerAlias("EC", null, null);
    return files.keys().getCertificateChain(alias)[0];
  }

  /** Files that have changed are taken at the second look. */
  private static void lookTwice(TlsFiles files) {
    files.look();
    files.look();
  }

  private static void replace(Path file, Path by) throws IOException {
    Files.copy(by, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void append(Path file, Path... others) throws IOException {
    StringBuilder text = new StringBuilder(Files.readString(file));
    for (Path other : others) {
      text.append(Files.readString(other));
    }
    Files.writeString(file, text);
  }

  @Test
  void keyOfAnotherCertificateIsRefused() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed other = ca.sign("other");
    // When // Then
    assertThatItIsRefused(
        new Signed(own.certificate(), other.key(), own.parsed()),
        other.key(),
        "the key is not that of the certificate in " + own.certificate());
  }

  @Test
  void keyOfAnotherAlgorithmIsRefused() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed rsa = ca.signRsa("rsa");
    // When // Then
    assertThatItIsRefused(
        new Signed(own.certificate(), rsa.key(), own.parsed()), rsa.key(), "the key is not that");
    assertThat(open(rsa).secondsUntilExpiry()).containsKey("tls-cert");
  }

  @Test
  void expiredCertificateIsRefused() throws Exception {
    // Given
    Instant until = start.minus(HOUR);
    Signed own = authority("ca").sign("own", Shape.of("own").withValidity(start.minus(DAY), until));
    // When // Then
    assertThatItIsRefused(own, own.certificate(), "the certificate of \"CN=own\" has expired");
  }

  @Test
  void certificateThatIsNotValidBeforeLaterIsRefused() throws Exception {
    // Given
    Signed own =
        authority("ca")
            .sign("own", Shape.of("own").withValidity(start.plus(HOUR), start.plus(DAY)));
    // When // Then
    assertThatItIsRefused(own, own.certificate(), "\"CN=own\" is not valid before");
  }

  @Test
  void chainMustBeInOrder() throws Exception {
    // Given
    Certificates root = authority("root");
    Certificates middle = root.intermediate("middle");
    Signed ordered = middle.sign("ordered");
    Signed mixed = middle.sign("mixed");
    append(ordered.certificate(), middle.authority, root.authority);
    append(mixed.certificate(), root.authority, middle.authority);
    // When // Then
    assertThat(shown(open(ordered))).isEqualTo(ordered.parsed());
    assertThatItIsRefused(mixed, mixed.certificate(), "the chain is not in order: certificate 2");
  }

  @Test
  void fileWithoutACertificateOrAKeyIsNamed() throws Exception {
    // Given
    Signed own = authority("ca").sign("own");
    Path garbage = Files.writeString(folder.resolve("garbage.pem"), "nothing");
    Path missing = folder.resolve("missing.pem");
    // When // Then
    assertThatItIsRefused(
        new Signed(garbage, own.key(), own.parsed()), garbage, "it has no certificate in PEM");
    assertThatItIsRefused(
        new Signed(own.certificate(), garbage, own.parsed()), garbage, "it has no unencrypted");
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> open(new Signed(missing, own.key(), own.parsed())))
        .withMessage(missing + " cannot be read: it does not exist");
  }

  @Test
  void certificateThatIsCutOffIsNotLeftAway() throws Exception {
    // Given
    Signed own = authority("ca").sign("own");
    String certificate = Files.readString(own.certificate());
    // When
    Files.writeString(own.certificate(), certificate + certificate.substring(0, 200));
    // Then
    assertThatItIsRefused(own, own.certificate(), "begins and does not end");
  }

  @Test
  void malformedCertificateIsNamedByItsPlace() throws Exception {
    // Given
    Signed own = authority("ca").sign("own");
    Files.writeString(
        own.certificate(),
        Files.readString(own.certificate())
            + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    // When // Then
    assertThatItIsRefused(own, own.certificate(), "certificate 2 is malformed");
  }

  @Test
  void fileThatIsNoPemFileByItsSizeIsNotReadAtAll() throws Exception {
    // Given
    Signed own = authority("ca").sign("own");
    Files.writeString(own.key(), "x".repeat((1 << 20) + 1));
    // When // Then
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> open(own))
        .withMessage(own.key() + " cannot be read: it has more than 1048576 bytes");
  }

  @Test
  void expiredAuthoritiesAreNotTrustedAndOneMustBeLeft() throws Exception {
    // Given
    Shape past = Shape.of("old").withValidity(start.minus(DAY), start.minus(HOUR));
    Certificates old = Certificates.authority(folder, "old", past);
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed client = old.sign("client");
    // When // Then
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> open(own, Optional.of(old.authority), Optional.empty()))
        .withMessage(old.authority + ": all authorities in it have expired");
    append(old.authority, ca.authority);
    TlsFiles files = open(own, Optional.of(old.authority), Optional.empty());
    assertThat(files.isClient(List.of(client.parsed()))).isFalse();
    assertThat(files.isClient(List.of(own.parsed()))).isTrue();
  }

  @Test
  void oneAuthorityForClientsAndCoordinatorsIsRefused() throws Exception {
    // Given
    Certificates root = authority("root");
    Certificates middle = root.intermediate("middle");
    Signed own = root.sign("own");
    // When // Then
    for (List<Path> pair :
        List.of(
            List.of(root.authority, root.authority),
            List.of(root.authority, middle.authority),
            List.of(middle.authority, root.authority))) {
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> open(own, Optional.of(pair.get(0)), Optional.of(pair.get(1))))
          .withMessageContaining("nobody could tell a client from a coordinator");
    }
  }

  @Test
  void clientsAndCoordinatorsAreToldApartByWhoHasSignedThem() throws Exception {
    // Given
    Certificates clients = authority("clients");
    Certificates peers = authority("peers");
    List<X509Certificate> client = List.of(clients.sign("client").parsed());
    List<X509Certificate> peer = List.of(peers.sign("peer").parsed());
    List<X509Certificate> stranger = List.of(authority("other").sign("peer2").parsed());
    Signed own = peers.sign("own");
    // When
    TlsFiles both = open(own, Optional.of(clients.authority), Optional.of(peers.authority));
    TlsFiles clientsOnly = open(own, Optional.of(clients.authority), Optional.empty());
    // Then
    assertThat(both.isClient(client)).isTrue();
    assertThat(both.isPeer(client)).isFalse();
    assertThat(both.isClient(peer)).isFalse();
    assertThat(both.isPeer(peer)).isTrue();
    assertThat(both.isClient(stranger) || both.isPeer(stranger)).isFalse();
    assertThat(clientsOnly.isPeer(client) || clientsOnly.isPeer(peer)).isFalse();
  }

  @Test
  void certificateThatIsToldApartByNobodyIsWarnedOf() throws Exception {
    // Given
    Certificates peers = authority("peers");
    // When
    open(authority("ca").sign("own"), Optional.empty(), Optional.of(peers.authority));
    // Then
    assertThat(told(Level.WARN))
        .singleElement()
        .asString()
        .contains("--peer-ca does not trust this coordinator's own certificate");
  }

  @Test
  void replacedFilesAreTakenTogetherAndOnlyWhenTheyFit() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed next = ca.sign("next");
    TlsFiles files = open(own);
    // When
    replace(own.certificate(), next.certificate());
    files.look();
    X509Certificate between = shown(files);
    replace(own.key(), next.key());
    lookTwice(files);
    // Then
    assertThat(between).isEqualTo(own.parsed());
    assertThat(shown(files)).isEqualTo(next.parsed());
    assertThat(told(Level.ERROR)).isEmpty();
  }

  @Test
  void fileOfAuthoritiesThatIsBeingWrittenIsNotTakenByHalf() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Certificates other = authority("other");
    Signed client = other.sign("client");
    Path both = Files.copy(ca.authority, ca.authority.resolveSibling("both.pem"));
    append(both, other.authority);
    TlsFiles files = open(ca.sign("own"), Optional.of(both), Optional.empty());
    String whole = Files.readString(both);
    // When: for a moment the second one is missing
    replace(both, ca.authority);
    files.look();
    boolean between = files.isClient(List.of(client.parsed()));
    Files.writeString(both, whole);
    files.look();
    boolean after = files.isClient(List.of(client.parsed()));
    // Then
    assertThat(between).isTrue();
    assertThat(after).isTrue();
  }

  @Test
  void replacedFilesAreTakenByTwoPollsThatAreApart() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed next = ca.sign("next");
    TlsFiles files = open(own);
    long from = System.nanoTime();
    replace(own.certificate(), next.certificate());
    replace(own.key(), next.key());
    // When
    files.poll();
    files.poll();
    // Then
    assertThat(shown(files)).isEqualTo(next.parsed());
    assertThat(System.nanoTime() - from).isGreaterThanOrEqualTo(Duration.ofMillis(200).toNanos());
  }

  @Test
  void handshakeThatHasChosenACertificateFindsItsKeyAfterTheSwap() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed next = ca.sign("next");
    TlsFiles files = open(own);
    String chosen = files.keys().chooseEngineServerAlias("EC", null, null);
    Object key = files.keys().getPrivateKey(chosen);
    // When
    replace(own.certificate(), next.certificate());
    replace(own.key(), next.key());
    lookTwice(files);
    // Then
    assertThat(files.keys().getCertificateChain(chosen)[0]).isEqualTo(own.parsed());
    assertThat(files.keys().getPrivateKey(chosen)).isEqualTo(key).isNotNull();
    assertThat(shown(files)).isEqualTo(next.parsed());
  }

  @Test
  void certificateIsNotChosenForAnotherAlgorithm() throws Exception {
    // Given
    TlsFiles files = open(authority("ca").sign("own"));
    // When // Then
    assertThat(files.keys().chooseEngineServerAlias("RSA", null, null)).isNull();
  }

  @Test
  void brokenNewFileKeepsTheOldAndIsAnErrorOnceForEachContent() throws Exception {
    // Given
    Signed own = authority("ca").sign("own");
    String good = Files.readString(own.certificate());
    TlsFiles files = open(own);
    // When
    for (String broken : List.of("broken", "broken in another way")) {
      Files.writeString(own.certificate(), broken);
      lookTwice(files);
      files.look();
    }
    Files.delete(own.certificate());
    lookTwice(files);
    // Then
    assertThat(shown(files)).isEqualTo(own.parsed());
    assertThat(told(Level.ERROR))
        .hasSize(3)
        .allMatch(message -> message.contains(own.certificate().toString()))
        .last()
        .asString()
        .contains("it does not exist");
    assertThat(files.lastError()).isPresent();
    // When
    Files.writeString(own.certificate(), good);
    lookTwice(files);
    // Then
    assertThat(told(Level.ERROR)).hasSize(3);
    assertThat(files.lastError()).isEmpty();
  }

  @Test
  void refusedFilesAreTakenAsSoonAsTheyAreValid() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own = ca.sign("own");
    Signed later = ca.sign("later", Shape.of("x").withValidity(start.plus(HOUR), start.plus(DAY)));
    TlsFiles files = open(own);
    replace(own.certificate(), later.certificate());
    replace(own.key(), later.key());
    lookTwice(files);
    X509Certificate before = shown(files);
    // When
    clock.now = start.plus(HOUR.multipliedBy(2));
    files.look();
    // Then
    assertThat(before).isEqualTo(own.parsed());
    assertThat(shown(files)).isEqualTo(later.parsed());
  }

  @Test
  void certificateThatExpiresSoonIsWarnedOfAtTheStartAndOnceADay() throws Exception {
    // Given: less than a quarter of its time is left
    Signed own =
        authority("ca")
            .sign(
                "own",
                Shape.of("own")
                    .withValidity(
                        start.minus(DAY.multipliedBy(30)), start.plus(DAY.multipliedBy(3))));
    // When
    TlsFiles files = open(own);
    files.look();
    clock.now = start.plus(DAY.minus(HOUR));
    files.look();
    int first = told(Level.WARN).size();
    clock.now = start.plus(DAY);
    files.look();
    files.look();
    // Then
    assertThat(first).isEqualTo(1);
    assertThat(told(Level.WARN)).hasSize(2);
  }

  @Test
  void shortLivedCertificateIsNotWarnedOfWhileItIsNew() throws Exception {
    // When: a day of validity, as workload identities have
    open(authority("ca").sign("own"));
    // Then
    assertThat(told(Level.WARN)).isEmpty();
  }

  @Test
  void expiryIsThatOfTheFirstCertificateOfEachFile() throws Exception {
    // Given
    Certificates ca = authority("ca");
    Signed own =
        ca.sign(
            "own",
            Shape.of("own").withValidity(start.minus(HOUR), start.plus(HOUR.multipliedBy(5))));
    append(own.certificate(), ca.authority);
    // When
    TlsFiles files = open(own, Optional.of(authority("clients").authority), Optional.empty());
    // Then
    assertThat(files.secondsUntilExpiry()).containsOnlyKeys("tls-cert", "tls-client-ca");
    assertThat(files.secondsUntilExpiry().get("tls-cert")).isBetween(17_990L, 18_000L);
  }
}
