package io.lockkeeper.server.zookeeper.commit;

import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.LeaseRecorded;
import io.lockkeeper.server.core.api.StoreEvent.LeaseRefused;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.commit.Transaction.WritePart;
import io.lockkeeper.server.zookeeper.record.Json;
import io.lockkeeper.server.zookeeper.record.RecordFormat;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/** Creates a lease's record. */
public final class LeaseRecording extends Write {

  /** Far more than a lease may have: a record that says so is damaged, or nobody's. */
  private static final long MAX_TTL_MILLIS = Duration.ofDays(1).toMillis();

  private final SessionKey session;
  private final LeaseId lease;
  private final String path;
  private final byte[] data;
  private boolean taken;

  public LeaseRecording(StorePaths paths, StoreEffect.RecordLease effect) {
    session = effect.session();
    lease = effect.lease();
    path = paths.lease(lease);
    Map<String, Object> object = RecordFormat.newRecord();
    object.put("ttlMillis", effect.ttlMillis());
    object.put("holder", effect.holder());
    object.put("secretHash", effect.secretHash());
    if (!effect.identity().isEmpty()) {
      object.put("identity", effect.identity());
    }
    data = Json.write(object);
  }

  /** Reads a record; empty if it is none. */
  public static Optional<AdoptedLease> read(LeaseId lease, byte[] data) {
    return Json.readRecord(data)
        .filter(object -> isTtl(Json.number(object, "ttlMillis")))
        .map(
            object ->
                new AdoptedLease(
                    lease,
                    Json.number(object, "ttlMillis"),
                    Json.text(object, "holder"),
                    Json.text(object, "secretHash"),
                    Json.text(object, "identity")));
  }

  private static boolean isTtl(long millis) {
    return millis > 0 && millis <= MAX_TTL_MILLIS;
  }

  /** Returns whether there is a record of that name that is not known to be ours. */
  boolean isTaken() {
    return taken;
  }

  String path() {
    return path;
  }

  @Override
  int bytes() {
    return path.length() + data.length + EntryCreation.OPERATION_BYTES;
  }

  @Override
  int operations() {
    return 1;
  }

  @Override
  void addTo(Transaction transaction) {
    transaction.createEphemeral(this, path, data);
  }

  @Override
  Optional<StoreEvent> done(List<OpResult> subjects) {
    return doneAlready();
  }

  @Override
  Mend mend(WritePart step, int code) {
    if (code == Code.NODEEXISTS.intValue()) {
      // Another session's, where a client that has chosen the secret asks two coordinators to open
      // its lease; or ours, if there was an attempt whose answer was lost.
      taken = true;
      return wasInDoubt() ? Mend.LOOK : Mend.REFUSE;
    }
    boolean passing = code == Code.NONODE.intValue() || ResultCode.of(code) == ResultCode.RETRY;
    return passing ? Mend.LATER : Mend.REFUSE;
  }

  @Override
  Optional<StoreEvent> doneAlready() {
    return Optional.of(new LeaseRecorded(session, lease));
  }

  @Override
  Optional<StoreEvent> refused(String message, boolean passing) {
    String why = taken ? "another coordinator serves this lease" : message;
    return Optional.of(new LeaseRefused(session, lease, why, taken, passing));
  }

  @Override
  int owned() {
    return 1;
  }
}
