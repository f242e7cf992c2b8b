package io.lockkeeper.bench.redisson;

import io.lockkeeper.bench.load.AsyncCrew;
import io.lockkeeper.bench.load.AsyncLocks;
import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadProgram;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's locks, asked without a thread for each client: the id of a thread is made up for each.
 * One Redisson client, which has a pool of connections itself.
 */
public final class RedissonLoad implements LoadedSystem, AsyncLocks<RLock> {

  /** Above those of real threads. */
  private static final long FIRST_THREAD = 1L << 32;

  private final Function<String, RLock> locks;

  private RedissonLoad(Function<String, RLock> locks) {
    this.locks = locks;
  }

  /**
   * Serves orders. Arguments: {@code redisson-fair} for fair locks, anything else for plain ones,
   * and Redis' address.
   */
  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://" + arguments[1]);
    RedissonClient redisson = Redisson.create(config);
    boolean fair = "redisson-fair".equals(arguments[0]);
    LoadProgram.run(new RedissonLoad(fair ? redisson::getFairLock : redisson::getLock));
  }

  @Override
  public Crew start(Order order, Tally tally) {
    return AsyncCrew.start(order, tally, this);
  }

  @Override
  public CompletionStage<RLock> acquire(int client, String name) {
    RLock lock = locks.apply(name);
    return lock.lockAsync(FIRST_THREAD + client).thenApply(locked -> lock);
  }

  @Override
  public CompletionStage<?> release(int client, RLock lock) {
    return lock.unlockAsync(FIRST_THREAD + client);
  }
}
