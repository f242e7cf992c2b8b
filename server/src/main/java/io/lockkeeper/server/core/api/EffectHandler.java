package io.lockkeeper.server.core.api;

/** Carries effects out. One method for each kind, named after it. */
public interface EffectHandler {
  /** See {@link StoreEffect}. */
  void store(StoreEffect effect);

  /** See {@link Effect.ReportLosses}. */
  void reportLosses(Effect.ReportLosses effect);

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
