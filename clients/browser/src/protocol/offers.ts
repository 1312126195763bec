/** Models: the offers that are the same for everyone, so that they can be cached and the action never travels. */

import { array } from "./arrays.js";
import { digestOf } from "./contract.js";
import { lookUp, MODELS } from "./registry.js";
import { decoded, word, type Reader } from "./strict.js";

type Vector = number[];

/** The score of features x is <theta, x> + width * sqrt(x' precision x): what is expected, and how little is known. */
export interface LinearModel {
  theta: Vector;
  precision: Vector[];
  width: number;
  /** The probability of a uniformly random action. */
  explore: number;
}

/** A `LinearModel` to choose by, and where to take the gradient. */
export interface GeneralizedModel extends LinearModel {
  anchor: Vector;
}

/** The highest <theta, x> is chosen; what is reported is measured by `clip`. */
export interface DirectedModel {
  theta: Vector;
  explore: number;
  /** The device's residual is the reward, minus the mean reward predicted by the anchor. */
  anchor: Vector;
  /** Residuals beyond it count as large as it. */
  clip: number;
  /** The probability that the highest <anchor, x> is chosen instead. */
  by_anchor: number;
  /** What is added to <anchor, x> before the reward is predicted. */
  base: number;
  /** 1 where features are reported `contrasted`, 0 where they are reported as they are. */
  contrast: number;
}

export type Model = LinearModel | GeneralizedModel | DirectedModel;

/** The name of a model: a server cannot give one person's model a name of its own. */
export async function versionOf(body: Uint8Array): Promise<string> {
  return (await digestOf(body)).slice(0, 32);
}

/** The arrays of a model of this kind, if they have the shapes of its task. */
export function modelFrom(body: Uint8Array, kind: string, dimension: number): Model {
  const parts: Record<string, Reader<unknown>> = { kind: word(kind) };
  for (const part of lookUp("model", kind, MODELS).split(" ")) {
    const [, name, axes] = /(\D+)(\d?)/.exec(part)!;
    parts[name!] = array(...Array<number>(Number(axes)).fill(dimension));
  }
  return decoded(body, parts, `a ${kind} model`) as unknown as Model;
}
