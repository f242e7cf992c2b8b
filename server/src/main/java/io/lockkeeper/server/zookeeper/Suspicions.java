package io.lockkeeper.server.zookeeper;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The members that somebody suspects to be dead. A suspicion is about the claims that the member
 * had when it arose: one that it makes later shows that it lives.
 */
final class Suspicions {

  private final Map<String, Map<String, Integer>> suspects = new HashMap<>();

  /** Takes note of a suspicion, given all claims as they are known. */
  void add(String member, Map<String, Claimed> claims) {
    suspects.put(
        member,
        claims.entrySet().stream()
            .filter(claim -> claim.getValue().record().owner().equals(member))
            .collect(Collectors.toMap(Map.Entry::getKey, claim -> claim.getValue().version())));
  }

  /** Forgets those that are no members any more. */
  void retainMembers(Set<String> members) {
    suspects.keySet().retainAll(members);
  }

  /** Returns whether the owner of a claim is suspected to be dead. */
  boolean isSuspect(String claimName, Claimed claim) {
    Integer version = suspects.getOrDefault(claim.record().owner(), Map.of()).get(claimName);
    return version != null && version == claim.version();
  }

  /** Returns whether a member is suspected to be dead, whatever it owns by now. */
  boolean isSuspect(String member) {
    return suspects.containsKey(member);
  }
}
