package io.lockkeeper.bench.lockkeeper;

import com.google.protobuf.Duration;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Many leases, each renewed three times in its time to live, on a few connections.
 *
 * <p>Words: {@code open N SECONDS} opens N leases with that time to live and renews them from then
 * on; {@code status} is answered with how many renewals were acknowledged so far, how many leases
 * have ended, and how often one could not be opened yet.
 */
public final class LeasesLoad implements Conversation.Host {

  private static final int TICK_MILLIS = 20;
  private static final int RENEWALS_IN_TTL = 3;
  private static final int RETRY_MILLIS = 200;
  private static final int OPENED_AT_ONCE = 1_000;
  private static final long PATIENCE_SECONDS = 120;

  private final List<Line> lines;
  private final LongAdder renewed = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  private LeasesLoad(String server, int connections) {
    lines = IntStream.range(0, connections).mapToObj(i -> new Line(server, i)).toList();
  }

  /** Answers words. Arguments: the server's address, and how many connections are shared. */
  public static void main(String[] arguments) throws Exception {
    Conversation.run(new LeasesLoad(arguments[0], Integer.parseInt(arguments[1])));
  }

  @Override
  public Object answer(String word, List<String> arguments) throws Exception {
    return switch (word) {
      case "open" -> open(Integer.parseInt(arguments.get(0)), Integer.parseInt(arguments.get(1)));
      case "status" ->
          Map.of("renewed", renewed.sum(), "ended", ended.sum(), "refused", refused.sum());
      default -> throw new IllegalArgumentException(word);
    };
  }

  private int open(int count, int ttlSeconds) throws InterruptedException {
    lines.forEach(line -> line.startRenewing(ttlSeconds * 1_000 / RENEWALS_IN_TTL));
    OpenLeaseRequest request =
        OpenLeaseRequest.newBuilder()
            .setTtl(Duration.newBuilder().setSeconds(ttlSeconds))
            .setHolder("bench")
            .build();
    CountDownLatch opened = new CountDownLatch(count);
    Semaphore room = new Semaphore(OPENED_AT_ONCE);
    for (int i = 0; i < count; i++) {
      room.acquire();
      lines.get(i % lines.size()).open(request, room, opened);
    }
    if (!opened.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(opened.getCount() + " leases are not open");
    }
    return count;
  }

  /** One connection with its leases; it receives the answers to their renewals. */
  private final class Line implements StreamObserver<RenewLeaseResponse> {
    private final LeaseServiceGrpc.LeaseServiceStub stub;
    private final ConcurrentLinkedQueue<RenewLeaseRequest> fresh = new ConcurrentLinkedQueue<>();
    // The timer's alone. Each slot is renewed in its tick of the period.
    private final List<List<RenewLeaseRequest>> slots = new ArrayList<>();
    private int tick;

    Line(String server, int number) {
      stub = LeaseServiceGrpc.newStub(Hosts.channel(server, number));
    }

    void startRenewing(int periodMillis) {
      for (int i = 0; i < periodMillis / TICK_MILLIS; i++) {
        slots.add(new ArrayList<>());
      }
      // A tick that throws would end all that follow.
      var unused =
          timer.scheduleAtFixedRate(
              () -> {
                try {
                  renew();
                } catch (RuntimeException e) {
                  onFailure(e);
                }
              },
              TICK_MILLIS,
              TICK_MILLIS,
              TimeUnit.MILLISECONDS);
    }

    void open(OpenLeaseRequest request, Semaphore room, CountDownLatch opened) {
      stub.openLease(
          request,
          new StreamObserver<>() {
            @Override
            public void onNext(OpenLeaseResponse lease) {
              fresh.add(RenewLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
              room.release();
              opened.countDown();
            }

            @Override
            public void onError(Throwable failure) {
              if (Status.fromThrowable(failure).getCode() == Status.Code.UNAVAILABLE) {
                refused.increment();
                var unused =
                    timer.schedule(
                        () -> open(request, room, opened), RETRY_MILLIS, TimeUnit.MILLISECONDS);
              } else {
                onFailure(failure);
              }
            }

            @Override
            public void onCompleted() {
              // onNext has said all.
            }
          });
    }

    private void renew() {
      int slot = tick % slots.size();
      tick++;
      slots.get(slot).forEach(lease -> stub.renewLease(lease, this));
      // What is new is renewed at once, and spread over the period by when it was opened.
      for (RenewLeaseRequest lease = fresh.poll(); lease != null; lease = fresh.poll()) {
        stub.renewLease(lease, this);
        slots.get(Math.floorMod(lease.getLeaseId().hashCode(), slots.size())).add(lease);
      }
    }

    @Override
    public void onNext(RenewLeaseResponse response) {
      renewed.increment();
    }

    @Override
    public void onError(Throwable failure) {
      switch (Status.fromThrowable(failure).getCode()) {
        case NOT_FOUND -> ended.increment();
        case UNAVAILABLE -> {} // The next period renews the lease, or finds that it has ended.
        default -> onFailure(failure);
      }
    }

    @Override
    public void onCompleted() {
      // onNext has said all.
    }

    private void onFailure(Throwable failure) {
      failure.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }
}
