/** The gRPC services: validate, delegate, translate, and decide nothing. */
@NullMarked
package io.lockkeeper.server.rpc.service;

import org.jspecify.annotations.NullMarked;
