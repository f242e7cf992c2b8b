/** Metrics, health and the dashboard over HTTP. */
@NullMarked
package io.lockkeeper.server.web;

import org.jspecify.annotations.NullMarked;
