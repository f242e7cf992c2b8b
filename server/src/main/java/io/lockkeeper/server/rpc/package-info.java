/** The gRPC endpoint of a coordinator: its services, its threads, its credentials. */
@NullMarked
package io.lockkeeper.server.rpc;

import org.jspecify.annotations.NullMarked;
