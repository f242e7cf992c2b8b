package io.lockkeeper.client.internal.transport;

import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the servers: looks up their names, each time again. A name that cannot be looked up keeps
 * its last addresses. The addresses of one name are ordered differently in each client, so that the
 * clients of a server that dies do not all go to the same next one. For any thread.
 */
public final class Discovery implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Discovery.class);
  private static final long IDLE_SECONDS = 5;

  private final List<Target> targets;
  private final Optional<Target.Resolver> resolver;
  private final Comparator<Endpoint> order;
  private final Map<Target, List<Endpoint>> known = new HashMap<>();

  /** One lookup at a time, and no thread when there is nothing to look up. */
  private final ThreadPoolExecutor executor =
      new ThreadPoolExecutor(
          1,
          1,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          task -> {
            Thread thread = new Thread(task, "lockkeeper-names");
            thread.setDaemon(true);
            return thread;
          });

  private CompletableFuture<List<Endpoint>> latest;

  /**
   * Makes a client's own.
   *
   * @param resolver knows the addresses of hosts; empty: all targets are taken as they are written
   * @param seed determines the order of the addresses of one name
   */
  public Discovery(List<Target> targets, Optional<Target.Resolver> resolver, long seed) {
    this.targets = targets;
    this.resolver = resolver.filter(n -> !targets.stream().allMatch(Target::isLiteral));
    this.order = Comparator.comparingLong(endpoint -> mixed(seed, endpoint));
    this.latest = CompletableFuture.completedFuture(asWritten());
    executor.allowCoreThreadTimeOut(true);
  }

  private static long mixed(long seed, Endpoint endpoint) {
    long mixed = (seed ^ endpoint.address().hashCode()) * 0x9E3779B97F4A7C15L;
    return (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
  }

  /** Returns the targets as they are written. */
  List<Endpoint> asWritten() {
    return targets.stream().map(Target::asWritten).toList();
  }

  /** Looks up all names; never completes exceptionally, and completes at once if there are none. */
  public synchronized CompletableFuture<List<Endpoint>> resolve() {
    if (resolver.isPresent() && latest.isDone()) {
      CompletableFuture<List<Endpoint>> found = new CompletableFuture<>();
      Runnable lookup = () -> found.complete(lookUp(resolver.get()));
      try {
        if (resolver.get().mayWait()) {
          executor.execute(lookup);
        } else {
          lookup.run();
        }
        latest = found;
      } catch (RejectedExecutionException e) {
        LOG.atDebug().log("The client is closed: no name is looked up any more");
      }
    }
    return latest;
  }

  private List<Endpoint> lookUp(Target.Resolver from) {
    return targets.stream().flatMap(target -> lookUp(target, from).stream()).distinct().toList();
  }

  private List<Endpoint> lookUp(Target target, Target.Resolver from) {
    try {
      List<Endpoint> found = target.lookUp(from).stream().sorted(order).toList();
      known.put(target, found);
      return found;
    } catch (UnknownHostException | RuntimeException | Error e) {
      LOG.atDebug().addKeyValue("host", target.host()).setCause(e).log("Cannot look up the host");
      return known.getOrDefault(target, List.of(target.asWritten()));
    }
  }

  /** Ends the thread. */
  @Override
  public void close() {
    executor.shutdownNow();
  }
}
