/** The documentation does what it says: its commands run, and its examples are code of the tree. */
package io.lockkeeper.integration.docs;
