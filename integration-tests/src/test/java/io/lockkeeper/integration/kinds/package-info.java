/** What each kind of lock does, told by the contract alone, on a real server. */
package io.lockkeeper.integration.kinds;
