/** The pool of lock sessions, and until when each is known to live. */
@NullMarked
package io.lockkeeper.server.core.session;

import org.jspecify.annotations.NullMarked;
