/** The gRPC services: validate, delegate, translate, and decide nothing. */
@NullMarked
package io.lockkeeper.server.rpc;

import org.jspecify.annotations.NullMarked;
