/**
 * Curator's own lock recipes, in a process of their own, in the same queues as a server's clients.
 */
package io.lockkeeper.integration.curator;
