/** The API over HTTP: the calls of gRPC as JSON, with the same identities, policy and limits. */
@NullMarked
package io.lockkeeper.server.web.api;

import org.jspecify.annotations.NullMarked;
