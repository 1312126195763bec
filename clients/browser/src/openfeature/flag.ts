/** One flag: what the app declares of it, and the decision that holds now. */
import type { EvaluationContext, JsonValue } from "@openfeature/web-sdk";
import type { Choice, Device, RawFields } from "../index.js";

export interface FlagOptions {
  /** The id of the task; the flag's key when left out. */
  task?: string;
  /** The value of each action, by its name; the name itself when left out. */
  values?: Record<string, JsonValue>;
  /** The tracking event whose value is the reward; the flag's key when left out. */
  event?: string;
}

interface Held {
  readonly choice: Choice;
  readonly asked: string;
  /** Seconds since 1970. */
  readonly until: number;
}

export class Flag {
  private held: Held | undefined;

  constructor(
    readonly device: Device,
    private readonly values: Record<string, JsonValue>,
    /** Seconds since 1970. */
    private readonly now: () => number,
  ) {}

  /** Why this flag cannot work with its task; empty if it can. */
  get mistake(): string {
    const { id, offers } = this.device.contract;
    if (offers.actions.length === 0) return `task "${id}" has no named actions; a flag needs them`;
    const [declared, named] = [Object.keys(this.values).sort(), [...offers.actions].sort()];
    const agree = declared.length === 0 || declared.join("\n") === named.join("\n");
    return agree ? "" : `the values of a flag of "${id}" are of ${named.join(", ")}, got ${declared.join(", ")}`;
  }

  value(action: string): JsonValue {
    return this.values[action] ?? action;
  }

  /** Have all actions values of this type? */
  has(type: string): boolean {
    return this.device.contract.offers.actions.every((action) => typeof this.value(action) === type);
  }

  /** The decision about these fields that still waits for its reward, if there is one. */
  open(fields: RawFields | undefined): Choice | undefined {
    const { held } = this;
    return held && held.asked === JSON.stringify(fields) && this.now() < held.until ? held.choice : undefined;
  }

  /** A new decision. The action whose value is the flag's default is what the app would show by itself. */
  decide(fields: RawFields | undefined, otherwise: unknown): Choice {
    const { contract } = this.device;
    const shown = contract.offers.actions.findIndex((action) => same(this.value(action), otherwise));
    const choice = this.device.chooseNow(fields, { baseline: Math.max(shown, 0) });
    this.held = { choice, asked: JSON.stringify(fields), until: this.now() + contract.reward.wait };
    return choice;
  }

  observe(reward: number): void {
    const id = this.held?.choice.id;
    this.held = undefined;
    if (id !== undefined) void this.device.observe(id, reward);
  }

  /** Of all that the context has, what the task declares; nothing where it takes no features. */
  fields(context: EvaluationContext): RawFields | undefined {
    const { offers } = this.device.contract;
    if (offers.kind === "tickets") return undefined;
    const names = Object.keys(offers.fields).filter((name) => name in context);
    return Object.fromEntries(names.map((name) => [name, context[name]])) as RawFields;
  }
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
