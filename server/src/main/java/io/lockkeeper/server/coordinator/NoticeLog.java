package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Notice;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs at DEBUG what becomes of each request, under its id: what clients are told of it. Never the
 * secret half of a lease's name.
 */
final class NoticeLog {

  private static final Logger LOG = LoggerFactory.getLogger(NoticeLog.class);

  private NoticeLog() {}

  /** Logs what a stream is told of a request. */
  static void told(Effect.Tell effect) {
    if (LOG.isDebugEnabled()) {
      Notice notice = effect.notice();
      LoggingEventBuilder line = LOG.atDebug().addKeyValue("request", effect.requestId());
      if (notice instanceof Notice.Granted granted) {
        line =
            line.addKeyValue("lease", granted.lease().tag())
                .addKeyValue("locks", granted.grants().stream().map(Notice.Grant::lock).toList())
                .addKeyValue("tokens", granted.grants().stream().map(Notice.Grant::token).toList());
      } else if (notice instanceof Notice.Queued queued) {
        line =
            line.addKeyValue("locks", queued.places().stream().map(Notice.Place::lock).toList())
                .addKeyValue("ahead", Notice.Place.most(queued.places()));
      } else if (notice instanceof Notice.Lost lost) {
        line = line.addKeyValue("reason", lost.reason());
      } else if (notice instanceof Notice.NotAcquired ending) {
        line = line.addKeyValue("reason", ending.reason());
      }
      line.log("request {}", inWords(notice));
    }
  }

  /** Logs that a request was not taken. */
  static void refused(Effect.Refuse effect) {
    LOG.atDebug()
        .addKeyValue("request", effect.requestId())
        .addKeyValue("reason", effect.failure().reason())
        .log("request refused");
  }

  /** Such as {@code not acquired}, for {@link Notice.NotAcquired}. */
  private static String inWords(Notice notice) {
    return notice
        .getClass()
        .getSimpleName()
        .replaceAll("(?<=.)([A-Z])", " $1")
        .toLowerCase(Locale.ROOT);
  }
}
