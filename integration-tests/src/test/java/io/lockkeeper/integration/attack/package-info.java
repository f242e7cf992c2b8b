/** Clients that mean no good, against a server with little memory. */
package io.lockkeeper.integration.attack;
