package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many random requests, and what must be true after each of them. */
class RandomRequestsTest extends OnInMemoryServer {

  private static final String MUTEX = "any/mutex";
  private static final String SHARED = "any/shared";
  private static final String ROOM = "any/room";
  private static final List<String> NAMES = List.of(MUTEX, SHARED, ROOM);
  private static final int STEPS = 200;
  private static final int LIMIT = 3;

  private final List<AcquireRequest.Builder> requests = new ArrayList<>();
  private final List<Heard<AcquireResponse>> heard = new ArrayList<>();
  private final List<String> leaseIds = new ArrayList<>();

  private LockRequest wanted(Random random, String name) {
    return switch (name) {
      case MUTEX -> exclusive(name);
      case SHARED -> random.nextInt(3) == 0 ? write(name) : read(name);
      default -> permits(name, 1 + random.nextInt(LIMIT), 0);
    };
  }

  private void step(Random random) {
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> ask(random);
      case 3, 4, 5 -> {
        if (!requests.isEmpty()) {
          release(requests.get(random.nextInt(requests.size())));
        }
      }
      case 6 -> pass(random.nextInt(1_500));
      default -> disturb(random);
    }
  }

  private void ask(Random random) {
    List<String> names = new ArrayList<>(NAMES);
    Collections.shuffle(names, random);
    AcquireRequest.Builder request =
        request(
            leaseIds.get(random.nextInt(leaseIds.size())),
            random.nextBoolean() ? "" : "owner-" + random.nextInt(2),
            "r-" + requests.size());
    names
        .subList(0, 1 + random.nextInt(NAMES.size()))
        .forEach(name -> request.addLocks(wanted(random, name)));
    if (random.nextInt(3) == 0) {
      request.setWaitTimeout(span(random.nextInt(3)));
    }
    if (random.nextInt(5) == 0) {
      request.setMaxHold(span(1 + random.nextInt(3)));
    }
    requests.add(request);
    heard.add(acquire(request));
  }

  private void disturb(Random random) {
    switch (random.nextInt(3)) {
      case 0 -> server.removeHolder(NAMES.get(random.nextInt(NAMES.size())));
      case 1 -> configure(1 + random.nextInt(LIMIT));
      default -> configure(LIMIT);
    }
    clock.settle();
  }

  private void configure(int limit) {
    int previous =
        locks
            .configureLock(ConfigureLockRequest.newBuilder().setName(ROOM).setLimit(limit).build())
            .getPreviousLimit();
    assertThat(previous).isBetween(0, LIMIT);
  }

  /** More permits than the limit are held only if so many were held when it shrank. */
  private void check(long permitsBefore) {
    LockState room = state(ROOM);
    checkOneOwner(state(MUTEX).getHoldersList());
    assertThat(permits(room)).isLessThanOrEqualTo(Math.max(permitsBefore, limit(room)));
    checkReadersAndWriters(state(SHARED));
    for (String name : NAMES) {
      LockState lock = state(name);
      assertThat(lock.getQueueLength() == 0 || lock.getHoldersCount() > 0)
          .as("a free lock has no waiters: %s", name)
          .isTrue();
    }
    if (room.getQueueLength() > 0) {
      assertThat(permits(room) + room.getQueue(0).getPermits())
          .as("the first waiter does not fit")
          .isGreaterThan(limit(room));
    }
  }

  /** Whoever was granted its locks and has heard of no end holds them. */
  private void checkBeliefs() {
    Map<String, List<Long>> tokens = new HashMap<>();
    for (String name : NAMES) {
      tokens.put(
          name, state(name).getHoldersList().stream().map(Contender::getFencingToken).toList());
    }
    heard.stream()
        .filter(story -> !story.messages.isEmpty() && story.last().hasGranted())
        .flatMap(story -> story.last().getGranted().getGrantsList().stream())
        .forEach(g -> assertThat(tokens.get(g.getName())).contains(g.getFencingToken()));
  }

  /** Several that hold what excludes others are levels of one hold. */
  private static void checkOneOwner(List<Contender> holders) {
    assertThat(holders.stream().map(Contender::getFencingToken).distinct().count())
        .isLessThanOrEqualTo(1);
    assertThat(holders.stream().map(Contender::getRequestId)).doesNotHaveDuplicates();
    assertThat(holders.stream().map(h -> h.getLeaseTag() + h.getOwner()).distinct().count())
        .isLessThanOrEqualTo(1);
    assertThat(holders.size() > 1 && holders.get(0).getOwner().isEmpty()).isFalse();
  }

  private static void checkReadersAndWriters(LockState shared) {
    List<Contender> writers =
        shared.getHoldersList().stream()
            .filter(h -> h.getMode() == LockMode.LOCK_MODE_WRITE)
            .toList();
    checkOneOwner(writers);
    if (!writers.isEmpty()) {
      assertThat(shared.getHoldersList())
          .as("who reads beside a writer is its owner")
          .allMatch(h -> h.getLeaseTag().equals(writers.get(0).getLeaseTag()))
          .allMatch(h -> h.getOwner().equals(writers.get(0).getOwner()));
    }
    if (writers.isEmpty() && shared.getQueueLength() > 0) {
      assertThat(shared.getQueue(0).getMode()).isEqualTo(LockMode.LOCK_MODE_WRITE);
    }
  }

  private static long permits(LockState room) {
    return room.getHoldersList().stream().mapToLong(Contender::getPermits).sum();
  }

  private static int limit(LockState room) {
    return room.getConfiguredLimit();
  }

  private void checkStories() {
    Set<Long> tokens = new HashSet<>();
    for (Heard<AcquireResponse> story : heard) {
      List<String> events = events(story);
      if (events.isEmpty()) {
        assertThat(story.ends).as("refused with a status").hasSize(1);
        continue;
      }
      assertThat(events.get(events.size() - 1)).isIn("RELEASED", "LOST", "NOT_ACQUIRED");
      assertThat(events).doesNotHaveDuplicates();
      assertThat(events.contains("GRANTED")).isNotEqualTo(events.contains("NOT_ACQUIRED"));
      assertThat(story.messages)
          .extracting(AcquireResponse::getSequence)
          .containsExactlyElementsOf(LongStream.rangeClosed(1, events.size()).boxed().toList());
      story.messages.stream()
          .filter(AcquireResponse::hasGranted)
          .flatMap(m -> m.getGranted().getGrantsList().stream())
          .filter(g -> g.getHoldCount() == 1 && !g.getName().equals(SHARED))
          .map(Grant::getFencingToken)
          .forEach(token -> assertThat(tokens.add(token)).as("a token is given once").isTrue());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233})
  void whateverIsAskedNobodyHoldsWhatExcludesAnotherAndNothingIsLeft(long seed) {
    // Given
    Random random = new Random(seed);
    for (int i = 0; i < 4; i++) {
      leaseIds.add(lease());
    }
    configure(LIMIT);
    // When
    for (int i = 0; i < STEPS; i++) {
      long permitsBefore = permits(state(ROOM));
      step(random);
      check(permitsBefore);
      checkBeliefs();
    }
    for (String lease : leaseIds) {
      CloseLeaseRequest close = CloseLeaseRequest.newBuilder().setLeaseId(lease).build();
      assertThat(leases.closeLease(close).getAlreadyEnded()).isFalse();
    }
    clock.settle();
    // Then
    assertThat(NAMES)
        .allMatch(name -> state(name).getHoldersCount() + state(name).getQueueLength() == 0);
    checkStories();
  }
}
