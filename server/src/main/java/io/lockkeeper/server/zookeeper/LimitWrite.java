package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.UpdateEvent.LimitAnswered;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.MarkerName.Limit;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Makes one marker name a lock's limit, or none. Reads behind a barrier what markers there are; one
 * transaction then adds the new one and deletes the others.
 */
final class LimitWrite extends RetriedChange {

  private final StoreEffect.SetLimit effect;
  private boolean barrierPassed;

  LimitWrite(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      StoreEffect.SetLimit effect) {
    super(context, connection, onOver);
    this.effect = effect;
  }

  @Override
  protected void attempt(Handle handle) {
    barrierPassed = false;
    check(handle, paths().locks(), reply -> barrierPassed = reply instanceof MultiReply.Committed);
    // Sent behind the barrier on the same connection, and so answered after it.
    handle.getChildren(
        paths().directory(effect.lock()),
        false,
        (rc, path, ctx, names) ->
            then(() -> onListed(handle, rc, names == null ? List.of() : names)),
        null);
  }

  private void onListed(Handle handle, int rc, List<String> names) {
    boolean missing = rc == Code.NONODE.intValue();
    if (rc != Code.OK.intValue() && !missing) {
      onError(rc);
    } else if (!barrierPassed) {
      later();
    } else {
      change(handle, operations(missing, markers(names)), missing);
    }
  }

  private static List<Limit> markers(List<String> names) {
    List<Limit> markers = new ArrayList<>();
    for (String name : names) {
      MarkerName.parse(name)
          .ifPresent(
              marker -> {
                if (marker instanceof Limit found) {
                  markers.add(found);
                }
              });
    }
    return markers;
  }

  private List<Op> operations(boolean directoryMissing, List<Limit> markers) {
    List<Op> operations = new ArrayList<>();
    Optional<Limit> kept = newest(markers);
    if (effect.limit().isPresent() && kept.isEmpty()) {
      if (directoryMissing) {
        operations.add(create(paths().directory(effect.lock()), new byte[0], CreateMode.CONTAINER));
      }
      String name = Limit.prefix(effect.limit().getAsInt(), effect.account());
      String prefix = paths().entry(effect.lock(), name);
      operations.add(create(prefix, new byte[0], CreateMode.PERSISTENT_SEQUENTIAL));
    }
    for (Limit marker : markers) {
      if (!kept.equals(Optional.of(marker))) {
        operations.add(Op.delete(paths().marker(effect.lock(), marker), -1));
      }
    }
    return operations;
  }

  /** Returns the marker that counts, if it names the limit already. */
  private Optional<Limit> newest(List<Limit> markers) {
    int last = markers.stream().mapToInt(Limit::sequence).max().orElse(-1);
    return markers.stream()
        .filter(marker -> marker.sequence() == last)
        .filter(marker -> effect.limit().equals(OptionalInt.of(marker.limit())))
        .findFirst();
  }

  private Op create(String path, byte[] data, CreateMode mode) {
    return Op.create(path, data, paths().acl(), mode);
  }

  private void change(Handle handle, List<Op> operations, boolean directoryMissing) {
    if (operations.isEmpty()) {
      finish(() -> tell(new LimitAnswered(effect.number(), true)));
      return;
    }
    multi(handle, operations, reply -> onChanged(reply, directoryMissing));
  }

  private void onChanged(MultiReply reply, boolean directoryMissing) {
    if (reply instanceof MultiReply.Committed committed) {
      if (directoryMissing) {
        // Its creation was the first operation.
        long zxid = MultiReply.created(committed.results().get(0)).getStat().getCzxid();
        context().directories().made(effect.lock(), zxid);
      }
      finish(() -> tell(new LimitAnswered(effect.number(), true)));
    } else if (reply instanceof MultiReply.Culprit culprit && isRace(culprit.code())) {
      // The directory or a marker came or went since it was listed.
      again();
    } else if (reply instanceof MultiReply.Culprit culprit) {
      onError(culprit.code());
    } else if (reply instanceof MultiReply.Whole whole) {
      onError(whole.code());
    }
  }

  private static boolean isRace(int code) {
    return code == Code.NONODE.intValue() || code == Code.NODEEXISTS.intValue();
  }

  @Override
  protected void tellFailed() {
    tell(new LimitAnswered(effect.number(), false));
  }
}
