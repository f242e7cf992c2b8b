/*
 * Adoption, session bound, grace and hand-off ahead of the commit: one lock, its clients, two coordinators, ZooKeeper.
 *
 * Whatever may come late is one step that may be taken late, by nobody's leave: a coordinator that is paused, or cut off
 * from ZooKeeper or from its clients, is one whose steps do not come. Time is discrete, and Clock counts every deadline
 * down at once. README.md says what is modelled, what is not, and what each mutant (MUT_...) leaves out.
 */

#ifndef NC
#define NC 2       /* clients, each with one lease and one request: 2 or 3 */
#endif
#define NK 2       /* coordinators */
#ifndef NS
#define NS 1       /* lock sessions: client c lives on session c % NS, which coordinator s % NK has opened */
#endif
#ifndef TIMEOUT
#define TIMEOUT 4  /* T: the timeout of a lock session */
#endif
#ifndef MARGIN
#define MARGIN 1   /* how far a session bound stays away from the expiry */
#endif
#ifndef TTL
#define TTL 2      /* of a lease */
#endif
#ifndef GRACE
#define GRACE TIMEOUT /* for how long after takenAt nothing is done to what was adopted */
#endif
#ifndef ADOPTIONS
#define ADOPTIONS 1   /* how often each session may be adopted */
#endif
#ifdef STREAM
#define BOUND_TO_STREAM(cl) ((cl) == 0) /* this client's lease is its stream */
#else
#define BOUND_TO_STREAM(cl) false
#endif

#define S(cl) ((cl) % NS)
#define MOST (TIMEOUT - MARGIN) /* the bound of a session for which the leader was touched just now */
#ifdef EXPIRY
/*
 * Sessions are behind a follower. There a write only marks its session as heard, and the answer to the leader's PING moves the
 * leader's clock for it: in the next unit of time, or the link is cut and no proof passes either. A new connection touches
 * at the leader. Only session 0 expires: client 1 is behind client 0 in the queue, so that its end lets nobody in.
 */
#define EXPIRES(sx) ((sx) == 0)
#define LINKED(sx) (s[sx].heard != BEFORE)
#define HEAR(sx) s[sx].heard = (EXPIRES(sx) && s[sx].heard == NOTHING -> NOW : s[sx].heard)
#define TOUCH(sx) s[sx].expiry = TIMEOUT; s[sx].heard = NOTHING
#define CONNECT(me, sx) k[me].s[sx].bound = MOST; k[me].s[sx].proof = MOST; TOUCH(sx)
#define PROVE(me, sx) k[me].s[sx].bound = (EXPIRES(sx) -> PROVED(me, sx) : MOST); k[me].s[sx].proof = MOST; HEAR(sx)
#if defined(MUT_PROOF_IS_TOUCH)
#define PROVED(me, sx) MOST
#elif defined(MUT_NO_LAG)
#define PROVED(me, sx) k[me].s[sx].proof
#else
/* An answered write shows that the leader has heard of the proof before it if the lag lies between: not in one unit of time. */
#define PROVED(me, sx) (k[me].s[sx].proof < MOST -> k[me].s[sx].proof : k[me].s[sx].bound)
#endif
#else
#define LINKED(sx) true
#define HEAR(sx) skip
#define CONNECT(me, sx) k[me].s[sx].bound = MOST
#define PROVE(me, sx) k[me].s[sx].bound = MOST
#endif
#if defined(EARLY_EXPIRY) || defined(EARLY_CLOCKS)
#define EARLY
#define COMES(me, cl, v) k[me].c[cl].came = v
#define CAME(me, cl) k[me].c[cl].came
#else
#define COMES(me, cl, v) skip
#define CAME(me, cl) true
#endif
#ifdef STALE
#define MISSED(me, cl) k[me].c[cl].missed
#else
#define MISSED(me, cl) false
#endif

/* ---- clients ---- */
#define WAIT 0     /* asks for the lock */
#define HOLD 1     /* was told the grant */
#define REL  2     /* has released or given up, and says so to whomever it reaches: does not use the lock and never will */
#define DONE 3     /* heard the end, or its own deadline has passed, or it has died */
typedef Client {
  unsigned st : 2;
  unsigned at : 1;     /* the coordinator that it talks to and listens to */
  unsigned valid : 3;  /* its own deadline, in time left */
#ifdef MUT_FROM_RECEIPT
  unsigned ack : 3;    /* an answer on its way: counted from when it arrives, not from when the question was sent */
#endif
#ifdef LIVE
  unsigned held : 2;   /* for how long it has been holding: releases after 3 */
  unsigned waits : 4;  /* for how long it has been waiting */
#endif
};
Client c[NC];

/* ---- coordinators ---- */
#define UNKNOWN 0
#define DORMANT 1
#define AWAKE 2
#define NONE 0
#define QUEUED 1
#define HELD 2
#define UNHEARD 3      /* held, and there was nobody to tell */
#define RELEASING 4    /* released by its client; its deletion is under way */
#define LEAVING 5      /* ended otherwise; its deletion is under way, and that of the lease if that has ended */
typedef OfClient {
  unsigned lease : 2;
  unsigned left : 2;   /* of the lease's time to live */
  unsigned acq : 3;
#ifdef EARLY
  bool came;           /* its client has been here since the adoption, on a stream, and repeated its request */
#endif
#ifdef STALE
  bool missed;         /* the mirror has missed the creation of its entry */
#endif
};
typedef OfSession {
  bool serves;
  unsigned bound : 3;  /* session bound, in time left */
#ifdef EXPIRY
  unsigned proof : 3;  /* the bound that the newest answered proof gives once the leader has heard of it, in time left */
#endif
  unsigned grace : 3;  /* takenAt + T, in time left */
};
typedef Coordinator {
  bool dead;
#ifdef STALE
  bool stale;          /* the mirror was disconnected and is not rebuilt */
#endif
  OfClient c[NC];
  OfSession s[NS];
};
Coordinator k[NK];

/* ---- ZooKeeper ---- */
typedef Node {
  bool record;         /* the lease's record exists */
  bool entry;          /* its entry in the lock's queue exists */
  unsigned token : 2;  /* the entry's place in the order of creation; 0: never created. Stays when the entry is gone */
};
Node z[NC];
#define NOTHING 0
#define NOW 1
#define BEFORE 2       /* in a unit of time before this one */
typedef Session {
  bool open;
  unsigned owner : 1;
  unsigned epoch : 2;
#ifdef EXPIRY
  unsigned expiry : 3; /* before that it does not expire, in time left */
  unsigned heard : 2;  /* by the follower, since it has answered a PING */
#endif
};
Session s[NS];
unsigned created : 2;
#ifdef LIVE
bool noticed;          /* that coordinator 0 is dead: one unit of time later at the latest */
#ifndef PATIENCE
#define PATIENCE 14
#endif
#endif

unsigned top : 2;      /* ghost: the highest token that a client was told */
byte i, j;             /* 0 between steps */

/* To see what a mutant does to exclusion where it breaks another rule sooner. */
#if defined(ONLY_S1) || defined(ONLY_L1)
#define ALSO(condition) skip
#else
#define ALSO(condition) assert(condition)
#endif

#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define COUNT_DOWN(v) v = ((v) > 0 -> (v) - 1 : 0)

#if NC == 2
#define ANY(p, x) (p(0, x) || p(1, x))
#define ANY_OF(p, me, x) (p(me, 0, x) || p(me, 1, x))
#define CROWD (USES(0) && USES(1))
#else
#define ANY(p, x) (p(0, x) || p(1, x) || p(2, x))
#define ANY_OF(p, me, x) (p(me, 0, x) || p(me, 1, x) || p(me, 2, x))
#define CROWD ((USES(0) && USES(1)) || (USES(0) && USES(2)) || (USES(1) && USES(2)))
#endif

#ifdef ONLY_L1
#define EXCLUDED true
#else
#define EXCLUDED (!CROWD)
#endif

/* What a client believes, without any look at tokens. */
#define USES(cl) (c[cl].st == HOLD && c[cl].valid > 0)
#define WAITS_AHEAD(d, cl) (z[d].token != 0 && z[d].token < z[cl].token && z[d].entry && c[d].st == WAIT)
/* Whose entry counts as gone before it is: hand-off ahead of the commit. */
#ifdef MUT_AHEAD_ON_END
#define RELEASED(me, d) (k[me].c[d].acq == RELEASING || k[me].c[d].acq == LEAVING)
#else
#define RELEASED(me, d) (k[me].c[d].acq == RELEASING)
#endif
#define IN_THE_WAY(me, d, cl) (z[d].token != 0 && z[d].token < z[cl].token && z[d].entry && !RELEASED(me, d) && !MISSED(me, d))
#define FIRST(me, cl) (z[cl].entry && !ANY_OF(IN_THE_WAY, me, cl))
#define SERVES_STILL(d, sx) (S(d) == sx && z[d].record && (k[0].c[d].lease != UNKNOWN || k[1].c[d].lease != UNKNOWN))
#define LIVES(me, d, sx) (S(d) == sx && k[me].c[d].lease != UNKNOWN)
#define BUSY(me, d, sx) (S(d) == sx && (k[me].c[d].lease != UNKNOWN || k[me].c[d].acq != NONE))

#ifdef LIVE
#define SUSPECTS(me) (k[1 - me].dead && noticed)
#else
#define SUSPECTS(me) true
#endif
#define PROOF_DUE(me, sx) ((k[me].s[sx].bound < MOST && LINKED(sx)) || !MINE(me, sx) || !s[sx].open)
#define MINE(me, sx) (s[sx].owner == me)
#ifdef MUT_NO_FENCE
#define FENCED(me, sx) s[sx].open
#else
#define FENCED(me, sx) (s[sx].open && MINE(me, sx))
#endif
#if defined(STALE) && !defined(MUT_STALE)
#define CURRENT(me) (!k[me].stale)
#else
#define CURRENT(me) true
#endif
#if defined(MUT_NO_BOUND) || defined(GRANT_WITHOUT_BOUND)
#define SURE(me, sx) true
#else
#define SURE(me, sx) (k[me].s[sx].bound > 0)
#endif

/* May a coordinator's own clock end something? Not what was adopted, before takenAt + T. */
#ifdef LIVE
#define CLOCKS_RUN(me, cl) false /* nobody has set a wait timeout */
#else
#ifdef EARLY_CLOCKS
#define CLOCKS_RUN(me, cl) (k[me].s[S(cl)].grace == 0 || k[me].c[cl].came)
#else
#ifdef MUT_DORMANT_TIMEOUT
#define CLOCKS_RUN(me, cl) true
#else
#define CLOCKS_RUN(me, cl) (k[me].s[S(cl)].grace == 0)
#endif
#endif
#endif
#ifdef EARLY_EXPIRY
#define LEASE_RUNS(me, cl) (k[me].s[S(cl)].grace == 0 || k[me].c[cl].came)
#else
#define LEASE_RUNS(me, cl) (k[me].s[S(cl)].grace == 0)
#endif

inline endLease(me, cl) {
  printf("coordinator %d ends the lease of client %d\n", me, cl);
  k[me].c[cl].lease = UNKNOWN; k[me].c[cl].left = 0; k[me].c[cl].acq = LEAVING
}

/* The coordinator learns that the session is another's: it forgets, and tells nobody that anything is lost. */
inline depose(me, sx) {
  printf("coordinator %d forgets what it knew of session %d\n", me, sx);
  k[me].s[sx].serves = false; k[me].s[sx].bound = 0; k[me].s[sx].grace = 0;
  for (j : 0 .. NC - 1) {
    if
    :: S(j) == sx ->
       k[me].c[j].lease = UNKNOWN; k[me].c[j].left = 0; k[me].c[j].acq = NONE; COMES(me, j, false)
    :: else
    fi
  };
  j = 0
}

#ifdef MUT_NO_BOUND
#define VOUCHED(me, cl) TTL
#define BOUND_LOST(me, sx) false
#else
#define VOUCHED(me, cl) MIN(TTL, k[me].s[S(cl)].bound)
#define BOUND_LOST(me, sx) (k[me].s[sx].bound == 0)
#endif

/* A request of the client has come: the lease is renewed, and the client told for how long. */
inline renew(me, cl) {
  k[me].c[cl].lease = AWAKE; k[me].c[cl].left = TTL;
#ifdef MUT_FROM_RECEIPT
  c[cl].ack = MIN(TTL, k[me].s[S(cl)].bound)
#else
  if
  :: BOUND_TO_STREAM(cl) -> c[cl].valid = MAX(c[cl].valid, k[me].s[S(cl)].bound)
  :: else -> c[cl].valid = MAX(c[cl].valid, VOUCHED(me, cl))
  fi
#endif
}

#define SERVED(me, cl) (!k[me].dead && k[me].s[S(cl)].serves && k[me].c[cl].lease != UNKNOWN && !BOUND_LOST(me, S(cl)) && \
  !(k[me].c[cl].lease == AWAKE && k[me].c[cl].left == 0 && LEASE_RUNS(me, cl)) && !(BOUND_TO_STREAM(cl) && k[me].c[cl].lease == DORMANT))

#ifdef RULE_PROVE_ATTACH
#define MAY_ATTACH(me, cl) FENCED(me, S(cl))
#else
#define MAY_ATTACH(me, cl) true
#endif

#define NEEDS_RENEWAL(me, cl) (c[cl].valid < TTL || k[me].c[cl].left < TTL)
#define HELD_HERE(me, cl) (k[me].c[cl].acq == HELD)
/* The coordinator and the client agree on what there is, so that a keep-alive is all that there is to say. */
#define AGREED(me, cl) ((c[cl].st == HOLD && HELD_HERE(me, cl)) || (c[cl].st == WAIT && k[me].c[cl].acq == QUEUED && CAME(me, cl)))
/* Clients are alike: it is enough to look at the queues in which they stand in the order of their names. */
#define IN_TURN(cl) (z[cl].token != 0 || created == cl)

inline finish(cl, state) {
   if
  :: state == REL -> printf("client %d releases or gives up\n", cl)
  :: else -> printf("client %d is done: told so, died, or its deadline passed\n", cl)
  fi;
   c[cl].st = state; c[cl].valid = 0; c[cl].at = 0
}

/* The client is told its grant. */
inline grant(me, cl) {
  printf("coordinator %d tells client %d its grant\n", me, cl);
  k[me].c[cl].acq = HELD;
  if
  :: c[cl].valid == 0 -> finish(cl, DONE)
  :: else ->
     c[cl].st = HOLD;
     assert(EXCLUDED);                  /* S1 */
     ALSO(z[cl].token > top);         /* S2 */
     ALSO(!ANY(WAITS_AHEAD, cl));     /* S5 */
     top = z[cl].token
  fi
}

/* A client attaches, here and nowhere else, and repeats its request: as one that waits, or one that holds. */
inline attach(me, cl) {
  if
  :: c[cl].st == WAIT -> printf("client %d comes to coordinator %d and waits\n", cl, me)
  :: else -> printf("client %d comes to coordinator %d and holds\n", cl, me)
  fi;
  c[cl].at = me;
  COMES(me, cl, true);
  if
  :: c[cl].st == WAIT ->
     if
     :: k[me].c[cl].acq == NONE && z[cl].token == 0 ->
        if
        :: FENCED(me, S(cl)) ->
           ALSO(MINE(me, S(cl)));          /* S3 */
#ifdef STALE
           k[1 - me].c[cl].missed = k[1 - me].stale;
#endif
           created++; z[cl].token = created; z[cl].entry = true; HEAR(S(cl));
           k[me].c[cl].acq = QUEUED; renew(me, cl)
        :: else -> depose(me, S(cl))
        fi
     :: k[me].c[cl].acq == UNHEARD || HELD_HERE(me, cl) -> renew(me, cl); grant(me, cl)
     :: k[me].c[cl].acq == QUEUED -> renew(me, cl)
     :: else -> finish(cl, DONE)
     fi
  :: else ->
     if
     :: k[me].c[cl].acq == QUEUED || k[me].c[cl].acq == UNHEARD || HELD_HERE(me, cl) -> k[me].c[cl].acq = HELD; renew(me, cl)
     :: else ->
#ifdef LIVE
        assert(false);                /* L1: it came back in time, and its lock is gone */
#endif
        finish(cl, DONE)
     fi
  fi;
  assert(EXCLUDED)                      /* S1 */
}

#ifdef LIVE
#define GOES(cl) (!SERVED(c[cl].at, cl))
#else
#define GOES(cl) true
#endif

proctype AClient(byte cl) {
end:
  do
  /* Comes back to the coordinator that it was at; or goes to the other one, because it was sent away, or for no reason. */
  :: d_step { (c[cl].st == WAIT || c[cl].st == HOLD) && SERVED(c[cl].at, cl) && !AGREED(c[cl].at, cl) && MAY_ATTACH(c[cl].at, cl) &&
       IN_TURN(cl) -> i = c[cl].at; attach(i, cl); i = 0 }
  :: d_step { (c[cl].st == WAIT || c[cl].st == HOLD) && SERVED(1 - c[cl].at, cl) && MAY_ATTACH(1 - c[cl].at, cl) && IN_TURN(cl) &&
       !BOUND_TO_STREAM(cl) && GOES(cl) -> i = 1 - c[cl].at; attach(i, cl); i = 0 }
  /* Keeps its lease alive. */
  :: d_step { (c[cl].st == WAIT || c[cl].st == HOLD) && SERVED(c[cl].at, cl) && AGREED(c[cl].at, cl) && NEEDS_RENEWAL(c[cl].at, cl) ->
       printf("client %d keeps its lease alive at coordinator %d\n", cl, c[cl].at);
       renew(c[cl].at, cl);
       assert(EXCLUDED) /* S1 */ }
#ifdef MUT_KEEPALIVE_ELSEWHERE
  :: d_step { (c[cl].st == WAIT || c[cl].st == HOLD) && SERVED(1 - c[cl].at, cl) && NEEDS_RENEWAL(1 - c[cl].at, cl) ->
       printf("client %d keeps its lease alive at coordinator %d, though it listens to the other\n", cl, 1 - c[cl].at);
       renew(1 - c[cl].at, cl);
       assert(EXCLUDED) /* S1 */ }
#endif
#ifdef MUT_LATE_GRANT
  /* Hears what the coordinator told that it has left. */
  :: d_step { c[cl].st == WAIT && c[cl].valid > 0 && k[1 - c[cl].at].c[cl].acq == UNHEARD ->
       printf("client %d hears its grant from the coordinator that it has left\n", cl); c[cl].st = HOLD; assert(EXCLUDED) /* S1 */ }
#endif
  /* Releases or gives up; or dies, or its stream breaks where that is its lease. */
#ifdef LIVE
  :: d_step { c[cl].st == HOLD && c[cl].held == 3 -> finish(cl, REL) }
#else
  :: d_step { c[cl].st == WAIT || c[cl].st == HOLD -> finish(cl, REL) }
  :: d_step { c[cl].st == WAIT || c[cl].st == HOLD -> finish(cl, DONE) }
#endif
#ifdef MUT_FROM_RECEIPT
  :: d_step { c[cl].ack > 0 ->
       if
       :: c[cl].st == WAIT || c[cl].st == HOLD -> c[cl].valid = MAX(c[cl].valid, c[cl].ack)
       :: else
       fi;
       c[cl].ack = 0;
       assert(EXCLUDED) /* S1 */ }
#endif
  od
}

/* What a coordinator does about one client. */
proctype Serve(byte me; byte cl) {
end:
  do
  /* A Release arrives. Only now the entry may count as released: its client has stopped using the lock, wherever it is. */
  :: d_step { c[cl].st == REL && k[me].c[cl].lease != UNKNOWN && (HELD_HERE(me, cl) || k[me].c[cl].acq == UNHEARD) ->
       printf("coordinator %d hears that client %d has released\n", me, cl); k[me].c[cl].acq = RELEASING }
  :: d_step { c[cl].st == REL && k[me].c[cl].lease != UNKNOWN && k[me].c[cl].acq == QUEUED ->
       printf("coordinator %d hears that client %d has given up\n", me, cl); k[me].c[cl].acq = LEAVING }
  /* The grant. */
  :: d_step { k[me].c[cl].acq == QUEUED && k[me].c[cl].lease == AWAKE && FIRST(me, cl) && CURRENT(me) && SURE(me, S(cl)) ->
       if
       :: c[cl].at == me && c[cl].st == WAIT -> grant(me, cl)
       :: else -> printf("coordinator %d grants client %d, which is elsewhere\n", me, cl); k[me].c[cl].acq = UNHEARD
       fi }
  /* The request's own clocks, any moment may be theirs: wait timeout (told, if the client is here); lingering without a stream. */
  :: d_step { k[me].c[cl].acq == QUEUED && CLOCKS_RUN(me, cl) ->
       printf("coordinator %d ends the waiting of client %d: timeout\n", me, cl); k[me].c[cl].acq = LEAVING }
  :: d_step { k[me].c[cl].acq == UNHEARD && CLOCKS_RUN(me, cl) ->
       printf("coordinator %d ends the grant of client %d, which nobody has heard\n", me, cl);
#ifdef MUT_AHEAD_ON_LINGER
       k[me].c[cl].acq = RELEASING
#else
       k[me].c[cl].acq = LEAVING
#endif
     }
  /* The lease ends: by its time to live, by the end of the grace, by the session bound, with its stream. */
  :: d_step { k[me].c[cl].lease == AWAKE && k[me].c[cl].left == 0 && LEASE_RUNS(me, cl) && !BOUND_TO_STREAM(cl) -> endLease(me, cl) }
#ifndef MUT_DORMANT_FOR_EVER
  :: d_step { k[me].c[cl].lease == DORMANT && k[me].s[S(cl)].grace == 0 -> endLease(me, cl) }
#endif
  :: d_step { k[me].c[cl].lease != UNKNOWN && BOUND_LOST(me, S(cl)) -> endLease(me, cl) }
  :: d_step { k[me].c[cl].lease == AWAKE && BOUND_TO_STREAM(cl) && c[cl].st == DONE -> endLease(me, cl) }
#ifdef MUT_STREAM_AT_ONCE
  :: d_step { k[me].c[cl].lease == DORMANT && BOUND_TO_STREAM(cl) -> endLease(me, cl) }
#else
  :: d_step { k[me].c[cl].lease == DORMANT && BOUND_TO_STREAM(cl) && k[1 - me].dead -> endLease(me, cl) }
#endif
  /* A deletion: commits, or says that the coordinator is deposed. */
  :: d_step { (k[me].c[cl].acq == RELEASING || k[me].c[cl].acq == LEAVING) && !k[me].dead ->
       if
       :: FENCED(me, S(cl)) ->
          ALSO(MINE(me, S(cl)));          /* S3 */
          printf("ZooKeeper deletes the entry of client %d for coordinator %d\n", cl, me);
          HEAR(S(cl)); z[cl].entry = false; k[me].c[cl].acq = NONE;
          if
          :: k[me].c[cl].lease == UNKNOWN -> z[cl].record = false
          :: else
          fi
       :: else -> depose(me, S(cl))
       fi }
  od
}

proctype Keep(byte me; byte sx) {
end:
  do
  /* A check-only transaction: proves the session, or says that the coordinator is deposed. */
  :: d_step { k[me].s[sx].serves && !k[me].dead && PROOF_DUE(me, sx) ->
       if
       :: FENCED(me, sx) -> printf("coordinator %d proves session %d\n", me, sx); PROVE(me, sx)
       :: else -> depose(me, sx)
       fi }
#ifdef MUT_PING
  /* A server answers that is cut off from the leader. */
  :: d_step { k[me].s[sx].serves && !k[me].dead && k[me].s[sx].bound > 0 -> k[me].s[sx].bound = MOST }
#endif
#ifdef EXPIRY
  /* The follower answers a PING. */
  :: d_step { me == 0 && s[sx].open && s[sx].heard != NOTHING -> printf("the leader hears of session %d from the follower\n", sx); TOUCH(sx) }
  /* The coordinator connects anew. */
  :: d_step { k[me].s[sx].serves && !k[me].dead && FENCED(me, sx) -> printf("coordinator %d connects anew to session %d\n", me, sx); CONNECT(me, sx) }
#endif
  /* Adoption. Suspicion may come at any time, deserved or not; what was believed of an earlier reign is forgotten first. */
  :: d_step { !k[me].dead && !MINE(me, sx) && s[sx].open && s[sx].epoch < ADOPTIONS && SUSPECTS(me) ->
       depose(me, sx);
       printf("coordinator %d adopts session %d\n", me, sx);
       s[sx].owner = me; s[sx].epoch++; CONNECT(me, sx);
       k[me].s[sx].serves = true; k[me].s[sx].grace = GRACE;
       for (j : 0 .. NC - 1) {
         if
         :: S(j) == sx && z[j].record -> k[me].c[j].lease = DORMANT; k[me].c[j].acq = (z[j].entry -> QUEUED : NONE)
         :: else
         fi
       };
       j = 0 }
  /* Closes the session when it is empty, as far as the coordinator knows. */
#ifdef MUT_CLOSE
  :: d_step { k[me].s[sx].serves && !k[me].dead && s[sx].open && !ANY_OF(LIVES, me, sx) ->
#else
  :: d_step { k[me].s[sx].serves && !k[me].dead && s[sx].open && !ANY_OF(BUSY, me, sx) ->
#endif
       ALSO(!ANY(SERVES_STILL, sx));       /* S4 */
       printf("coordinator %d closes session %d\n", me, sx);
       s[sx].open = false }
#ifdef EXPIRY
  /* ZooKeeper expires the session. */
  :: d_step { me == 0 && s[sx].open && s[sx].expiry == 0 ->
       printf("session %d expires\n", sx);
       s[sx].open = false;
       for (j : 0 .. NC - 1) {
         if
         :: S(j) == sx -> z[j].entry = false; z[j].record = false
         :: else
         fi
       };
       j = 0 }
#endif
  od
}

inline crash() {
  printf("coordinator 0 dies\n");
  k[0].dead = true;
  for (j : 0 .. NS - 1) { k[0].s[j].serves = false; k[0].s[j].bound = 0; k[0].s[j].grace = 0 };
  for (j : 0 .. NC - 1) {
    k[0].c[j].lease = UNKNOWN; k[0].c[j].left = 0; k[0].c[j].acq = NONE; COMES(0, j, false);
    if
    :: BOUND_TO_STREAM(j) && c[j].at == 0 -> finish(j, DONE)
    :: else
    fi
  };
  j = 0
}

#ifdef STALE
/* A mirror loses its connection, and what is created meanwhile; and is rebuilt. */
proctype Mirror(byte me) {
end:
  do
  :: d_step { !k[me].stale -> printf("the mirror of coordinator %d is stale\n", me); k[me].stale = true }
  :: d_step { k[me].stale -> printf("the mirror of coordinator %d is rebuilt\n", me); k[me].stale = false; for (j : 0 .. NC - 1) { k[me].c[j].missed = false }; j = 0 }
  od
}
#endif

inline tick() {
  printf("-- time passes --\n");
  for (i : 0 .. NC - 1) {
#ifdef LIVE
    assert(!(c[i].st == HOLD && c[i].valid == 1)); /* L1: a live client's lease does not run out */
    c[i].held = (c[i].st == HOLD -> c[i].held + 1 : 0);
    c[i].waits = (c[i].st == WAIT -> c[i].waits + 1 : 0);
    assert(c[i].waits < PATIENCE);                 /* L2 */
#endif
    if
    :: c[i].st == HOLD && c[i].valid == 1 -> finish(i, DONE)
    :: else
    fi;
    COUNT_DOWN(c[i].valid)
  };
  for (i : 0 .. NK - 1) {
    for (j : 0 .. NC - 1) { COUNT_DOWN(k[i].c[j].left) };
    for (j : 0 .. NS - 1) { COUNT_DOWN(k[i].s[j].bound); COUNT_DOWN(k[i].s[j].grace) }
  };
#ifdef EXPIRY
  COUNT_DOWN(s[0].expiry); COUNT_DOWN(k[0].s[0].proof); s[0].heard = (s[0].heard == NOW -> BEFORE : s[0].heard);
#endif
  i = 0; j = 0
}

proctype Clock() {
end:
  do
#ifdef LIVE
  /* Whoever can do something does it before time goes on. */
  :: atomic { timeout -> d_step { tick(); noticed = noticed || k[0].dead } }
  :: atomic { timeout && !k[0].dead -> d_step { crash() } }
  :: atomic { timeout && k[0].dead && !noticed -> noticed = true }
  :: atomic { timeout && c[0].st != DONE && c[0].st != REL -> d_step { finish(0, DONE) } }
#else
  :: d_step { tick() }
#ifdef CRASH
  :: d_step { !k[0].dead -> crash() }
#endif
#endif
  od
}

init {
  d_step {
    for (i : 0 .. NS - 1) {
      s[i].open = true; s[i].owner = i; k[i].s[i].serves = true; CONNECT(i, i)
    };
    for (i : 0 .. NC - 1) {
      z[i].record = true; c[i].at = S(i); c[i].valid = TTL; k[S(i)].c[i].lease = AWAKE; k[S(i)].c[i].left = TTL
    };
    i = 0
  };
  atomic {
    run AClient(0); run AClient(1); run Serve(0, 0); run Serve(0, 1); run Serve(1, 0); run Serve(1, 1); run Keep(0, 0); run Keep(1, 0);
#if NC > 2
    run AClient(2); run Serve(0, 2); run Serve(1, 2);
#endif
#if NS > 1
    run Keep(0, 1); run Keep(1, 1);
#endif
#ifdef STALE
    run Mirror(0); run Mirror(1);
#endif
    run Clock()
  }
}
