package io.lockkeeper.client.internal.transport;

import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
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

  private final Optional<Target.Resolver> resolver;
  private final Comparator<Endpoint> order;
  private final Map<Target, List<Endpoint>> known = new ConcurrentHashMap<>();

  /** One lookup at a time, and no thread when there is nothing to look up. */
  private final ThreadPoolExecutor executor;

  private volatile List<Target> targets;
  private CompletableFuture<List<Endpoint>> latest;

  /**
   * Makes a client's own.
   *
   * @param resolver knows the addresses of hosts; empty: all targets are taken as they are written
   * @param seed determines the order of the addresses of one name
   */
  public Discovery(List<Target> targets, Optional<Target.Resolver> resolver, long seed) {
    this(
        targets,
        resolver,
        Comparator.comparingLong(endpoint -> mixed(seed, endpoint)),
        lookupThread());
  }

  private Discovery(
      List<Target> targets,
      Optional<Target.Resolver> resolver,
      Comparator<Endpoint> order,
      ThreadPoolExecutor executor) {
    this.targets = targets;
    this.resolver = resolver;
    this.order = order;
    this.executor = executor;
    this.latest = CompletableFuture.completedFuture(asWritten());
  }

  private static ThreadPoolExecutor lookupThread() {
    ThreadPoolExecutor executor =
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
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /**
   * Returns one for other servers of the same client, which uses the same thread. All clients are
   * told the same servers: they are ordered differently in each, too.
   */
  public Discovery of(List<Target> others) {
    return new Discovery(ordered(others), resolver, order, executor);
  }

  /** From the next lookup on, these are the servers, ordered likewise. */
  public synchronized void changeTo(List<Target> others) {
    List<Target> changed = ordered(others);
    if (!changed.equals(targets)) {
      targets = changed;
      known.keySet().retainAll(changed);
      latest = CompletableFuture.completedFuture(asWritten());
    }
  }

  private List<Target> ordered(List<Target> others) {
    return others.stream().sorted(Comparator.comparing(Target::asWritten, order)).toList();
  }

  /** Returns the servers as they are written. */
  public List<Target> targets() {
    return targets;
  }

  private static long mixed(long seed, Endpoint endpoint) {
    long mixed = (seed ^ endpoint.address().hashCode()) * 0x9E3779B97F4A7C15L;
    return (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
  }

  /** Returns the targets as they are written, each as one server. */
  List<Endpoint> asWritten() {
    return targets.stream().map(Target::asWritten).toList();
  }

  /** Looks up all names; never completes exceptionally, and completes at once if there are none. */
  public synchronized CompletableFuture<List<Endpoint>> resolve() {
    boolean anyName = resolver.isPresent() && !targets.stream().allMatch(Target::isLiteral);
    if (anyName && latest.isDone()) {
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
