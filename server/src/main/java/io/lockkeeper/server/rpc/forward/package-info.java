/** Takes a request for a lease to the coordinator that serves it. */
@NullMarked
package io.lockkeeper.server.rpc.forward;

import org.jspecify.annotations.NullMarked;
