/** What the coordinator offers to those who carry requests, and what it needs of a store. */
@NullMarked
package io.lockkeeper.server.coordinator.api;

import org.jspecify.annotations.NullMarked;
