package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that another coordinator of our home lives, which only a copy of the data directory can
 * bring about, and says so: both take each other for dead, and take sessions from each other.
 *
 * <p>Whoever had the home before us has left a member node and claims for a while. But the dead
 * write nothing: what was written in that home after we had settled comes from one that lives.
 */
final class CopiedHome {

  private static final Logger LOG = LoggerFactory.getLogger(CopiedHome.class);
  private static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String ourId;
  private final String home;
  private final long settleNanos;
  private final Set<String> members = new HashSet<>();
  private final Map<String, VersionedClaim> claims = new HashMap<>();
  private Optional<Long> firstLookNanos = Optional.empty();
  private Optional<Long> toldNanos = Optional.empty();

  /**
   * Notices it for one coordinator.
   *
   * @param home may be empty: then there is nothing to notice
   * @param settleNanos for how long after our start we may still see for the first time what was
   *     written before it
   */
  CopiedHome(String ourId, String home, long settleNanos) {
    this.ourId = ourId;
    this.home = home;
    this.settleNanos = settleNanos;
  }

  /** Looks at the members by id and the claims by name. */
  void look(
      Map<String, MemberRecord> seenMembers, Map<String, VersionedClaim> seenClaims, long now) {
    if (home.isEmpty()) {
      return;
    }
    Optional<String> newcomer = newMember(seenMembers);
    Optional<String> claimant = newClaimant(seenClaims);
    if (firstLookNanos.isEmpty()) {
      firstLookNanos = Optional.of(now);
    }
    if (now - firstLookNanos.get() >= settleNanos) {
      newcomer.or(() -> claimant).ifPresent(id -> tell(id, seenMembers, now));
    }
  }

  private boolean isOfOurHome(String id, String itsHome) {
    return itsHome.equals(home) && !id.equals(ourId);
  }

  private Optional<String> newMember(Map<String, MemberRecord> seen) {
    Optional<String> found = Optional.empty();
    for (Map.Entry<String, MemberRecord> member : seen.entrySet()) {
      if (isOfOurHome(member.getKey(), member.getValue().home()) && members.add(member.getKey())) {
        found = Optional.of(member.getKey());
      }
    }
    return found;
  }

  private Optional<String> newClaimant(Map<String, VersionedClaim> seen) {
    Optional<String> found = Optional.empty();
    for (Map.Entry<String, VersionedClaim> claim : seen.entrySet()) {
      VersionedClaim before = claims.put(claim.getKey(), claim.getValue());
      String owner = claim.getValue().record().owner();
      boolean written = before == null || before.version() != claim.getValue().version();
      if (written && isOfOurHome(owner, claim.getValue().record().home())) {
        found = Optional.of(owner);
      }
    }
    claims.keySet().retainAll(seen.keySet());
    return found;
  }

  private void tell(String id, Map<String, MemberRecord> seen, long now) {
    if (toldNanos.isPresent() && now - toldNanos.get() < REPEAT_NANOS) {
      return;
    }
    toldNanos = Optional.of(now);
    LOG.atError()
        .addKeyValue("coordinator", id)
        .addKeyValue(
            "address",
            Optional.ofNullable(seen.get(id)).map(MemberRecord::address).orElse("unknown"))
        .log(
            "another coordinator runs on a copy of this one's data directory: each takes the other for dead, and they take"
                + " sessions from each other. Stop one of them, delete the file \"home\" in its --data-dir, and start it again");
  }
}
