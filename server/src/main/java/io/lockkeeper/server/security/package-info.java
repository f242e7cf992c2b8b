/** Who calls, what he may do, how much of it, and the record of that: identity, policy, audit. */
@NullMarked
package io.lockkeeper.server.security;

import org.jspecify.annotations.NullMarked;
