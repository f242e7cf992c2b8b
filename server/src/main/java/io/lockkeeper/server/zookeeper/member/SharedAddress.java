package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.record.MemberRecord;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that another coordinator advertises our address, and logs it: requests for the leases of
 * one may reach the other.
 *
 * <p>A coordinator that had the address before us stays a member until its session expires. So only
 * what lasts longer is logged.
 */
final class SharedAddress {

  private static final Logger LOG = LoggerFactory.getLogger(SharedAddress.class);
  private static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String ourId;
  private final long expiryNanos;
  private final Map<String, Long> sinceNanos = new HashMap<>();
  private Optional<Long> toldNanos = Optional.empty();

  /**
   * Notices it for one coordinator.
   *
   * @param expiryNanos the longest time until a coordinator that has ended is no longer a member
   */
  SharedAddress(String ourId, long expiryNanos) {
    this.ourId = ourId;
    this.expiryNanos = expiryNanos;
  }

  /** Looks at the members by id. */
  void look(Map<String, MemberRecord> members, long now) {
    Optional<String> ours = Optional.ofNullable(members.get(ourId)).map(SharedAddress::normalized);
    sinceNanos.keySet().retainAll(members.keySet());
    members.forEach(
        (id, member) -> {
          if (id.equals(ourId) || !ours.equals(Optional.of(normalized(member)))) {
            sinceNanos.remove(id);
          } else if (now - sinceNanos.computeIfAbsent(id, sharing -> now) >= expiryNanos) {
            tell(id, member, now);
          }
        });
  }

  private static String normalized(MemberRecord member) {
    return member.address().toLowerCase(Locale.ROOT).replace(".:", ":");
  }

  private void tell(String id, MemberRecord member, long now) {
    if (toldNanos.isPresent() && now - toldNanos.get() < REPEAT_NANOS) {
      return;
    }
    toldNanos = Optional.of(now);
    LOG.atError()
        .addKeyValue("coordinator", ourId)
        .addKeyValue("other", id)
        .addKeyValue("address", member.address())
        .log(
            "another coordinator advertises the same address as this one, so that requests for one may reach the other: give"
                + " each coordinator an --advertise of its own, not that of a balancer");
  }
}
