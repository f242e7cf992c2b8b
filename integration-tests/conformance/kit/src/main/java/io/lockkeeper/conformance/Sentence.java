package io.lockkeeper.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Makes a method a scenario, and names the sentence of the contract that it checks. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Sentence {

  /** The sentence, word for word as it is in the comments of the proto files. */
  String value();
}
