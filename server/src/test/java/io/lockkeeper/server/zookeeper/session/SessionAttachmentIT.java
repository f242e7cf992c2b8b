package io.lockkeeper.server.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.ToldListener;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a session's connection is taken for. */
final class SessionAttachmentIT {

  private final RecordedEvents events = new RecordedEvents();
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();

  private StoreContext context(String server) {
    return Asked.context(ensemble.settings(server, "c1"), events);
  }

  private SessionAttachment open(StoreContext context) throws Exception {
    CompletableFuture<SessionAttachment> opened = new CompletableFuture<>();
    context
        .executor()
        .execute(() -> opened.complete(new SessionAttachment(context, new ToldListener(told))));
    return opened.get(60, TimeUnit.SECONDS);
  }

  private static void close(SessionAttachment attachment, StoreContext context) throws Exception {
    context.executor().execute(attachment::abandon);
    context.connector().stop(1_000);
    context.executor().stop(1_000);
  }

  @Test
  void connectionHasTheTimeoutThatItWasGranted() throws Exception {
    // Given
    StoreContext context = context(ensemble.server().connectString());
    SessionAttachment attachment = open(context);
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo("connected");
    // When
    boolean connected = attachment.onConnected();
    // Then
    assertThat(connected).isTrue();
    assertThat(attachment.isConnected()).isTrue();
    assertThat(attachment.grantedMillis()).isEqualTo(Ensemble.SESSION.toMillis());
    close(attachment, context);
  }

  /**
   * A busy coordinator may hear of a connection when a later one was already told that the session
   * has expired. Then nothing is granted, as here, where no connection ever stands.
   */
  @Test
  void connectionThatIsToldOfWhenNothingIsGrantedIsNone() throws Exception {
    // Given
    StoreContext context = context("127.0.0.1:" + Ports.free());
    SessionAttachment attachment = open(context);
    // When
    boolean connected = attachment.onConnected();
    // Then
    assertThat(connected).isFalse();
    assertThat(attachment.isConnected()).isFalse();
    close(attachment, context);
  }
}
