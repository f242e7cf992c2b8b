package io.lockkeeper.server.core.api;

/** Carries effects out. One method for each kind, named after it. */
public interface EffectHandler {
  /** See {@link SessionEffect.OpenSession}. */
  void openSession(SessionEffect.OpenSession effect);

  /** See {@link SessionEffect.AdoptSession}. */
  void adoptSession(SessionEffect.AdoptSession effect);

  /** See {@link SessionEffect.CloseSession}. */
  void closeSession(SessionEffect.CloseSession effect);

  /** See {@link SessionEffect.ProveSession}. */
  void proveSession(SessionEffect.ProveSession effect);

  /** See {@link SessionEffect.ReportLosses}. */
  void reportLosses(SessionEffect.ReportLosses effect);

  /** See {@link Effect.CreateEntries}. */
  void createEntries(Effect.CreateEntries effect);

  /** See {@link Effect.DeleteEntries}. */
  void deleteEntries(Effect.DeleteEntries effect);

  /** See {@link Effect.RecordLease}. */
  void recordLease(Effect.RecordLease effect);

  /** See {@link Effect.EraseLease}. */
  void eraseLease(Effect.EraseLease effect);

  /** See {@link Effect.Barrier}. */
  void barrier(Effect.Barrier effect);

  /** See {@link Effect.ReadDetails}. */
  void readDetails(Effect.ReadDetails effect);

  /** See {@link Effect.Amend}. */
  void amend(Effect.Amend effect);

  /** See {@link Effect.SetLimit}. */
  void setLimit(Effect.SetLimit effect);

  /** See {@link Effect.RemoveGuard}. */
  void removeGuard(Effect.RemoveGuard effect);

  /** See {@link Effect.Tell}. */
  void tell(Effect.Tell effect);

  /** See {@link Effect.Count}. */
  void count(Effect.Count effect);

  /** See {@link Effect.Refuse}. */
  void refuse(Effect.Refuse effect);

  /** See {@link Effect.TellLeaseEnd}. */
  void tellLeaseEnd(Effect.TellLeaseEnd effect);

  /** See {@link Effect.Supersede}. */
  void supersede(Effect.Supersede effect);

  /** See {@link Effect.SendAway}. */
  void sendAway(Effect.SendAway effect);

  /** See {@link Effect.Reply}. */
  void reply(Effect.Reply effect);

  /** See {@link Effect.Publish}. */
  void publish(Effect.Publish effect);

  /** See {@link Effect.PublishGap}. */
  void publishGap(Effect.PublishGap effect);
}
