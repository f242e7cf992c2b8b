/**
 * The example applications of {@code integrations/examples}, as processes against real
 * coordinators.
 */
package io.lockkeeper.integration.examples;
