/**
 * A provider for OpenFeature's web SDK: each flag is a task, evaluating it is `choose`, tracking its reward is `observe`.
 *
 * A decision costs budget, and apps evaluate flags as often as they draw a screen. So the same question has the same
 * answer until its reward is tracked or its time is over. Of the context only what the task declares is looked at, and
 * nothing leaves the browser but what the device of the task sends.
 */
import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
  StandardResolutionReasons as Reason,
  type TrackingEventDetails,
} from "@openfeature/web-sdk";
import { Device, NO_MODEL, type Options } from "../index.js";
import { Flag, type FlagOptions } from "./flag.js";

export type { FlagOptions };

export interface ProviderOptions extends Options {
  /** How often due reports are sent and the server is asked for news, in seconds. */
  every?: number;
}

const RETRY = 60_000; // milliseconds

export class SottovoceProvider implements Provider {
  readonly metadata = { name: "sottovoce" } as const;
  readonly runsOn = "client";
  readonly events = new OpenFeatureEventEmitter();
  private readonly joined = new Map<string, Flag>();
  private retry: ReturnType<typeof setTimeout> | undefined;

  /** Flags by their keys, decided by the tasks of one server. */
  constructor(
    private readonly server: string,
    private readonly flags: Record<string, FlagOptions>,
    private readonly options: ProviderOptions = {},
  ) {}

  /** Join the tasks. Those whose server does not answer are tried again; without any the provider is in error. */
  async initialize(): Promise<void> {
    const problems = await this.join();
    if (this.joined.size === 0 && problems.length > 0) throw new Error(problems[0]);
  }

  async onClose(): Promise<void> {
    clearTimeout(this.retry);
    for (const { device } of this.joined.values()) device.close();
    this.joined.clear();
  }

  resolveStringEvaluation(key: string, otherwise: string, context: EvaluationContext): ResolutionDetails<string> {
    return this.resolve(key, "string", otherwise, context);
  }

  resolveNumberEvaluation(key: string, otherwise: number, context: EvaluationContext): ResolutionDetails<number> {
    return this.resolve(key, "number", otherwise, context);
  }

  resolveBooleanEvaluation(key: string, otherwise: boolean, context: EvaluationContext): ResolutionDetails<boolean> {
    return this.resolve(key, "boolean", otherwise, context);
  }

  resolveObjectEvaluation<T extends JsonValue>(key: string, otherwise: T, context: EvaluationContext) {
    return this.resolve(key, "object", otherwise, context);
  }

  /** The value of the event is the reward of the newest decision. */
  track(event: string, _: EvaluationContext, { value }: TrackingEventDetails): void {
    if (value === undefined) return;
    for (const [key, flag] of this.joined) if ((this.flags[key]?.event ?? key) === event) flag.observe(value);
  }

  private resolve<T>(key: string, type: string, otherwise: T, context: EvaluationContext): ResolutionDetails<T> {
    const flag = this.joined.get(key);
    if (!(key in this.flags)) return failed(otherwise, ErrorCode.FLAG_NOT_FOUND, `no flag "${key}" was declared`);
    if (!flag) return failed(otherwise, ErrorCode.PROVIDER_NOT_READY, `the task of "${key}" was not joined yet`);
    if (flag.mistake) return failed(otherwise, ErrorCode.GENERAL, flag.mistake);
    if (!flag.has(type)) return failed(otherwise, ErrorCode.TYPE_MISMATCH, `the values of "${key}" are no ${type}s`);
    const fields = flag.fields(context);
    const held = flag.open(fields);
    const { reporting } = flag.device;
    const flagMetadata = about(flag);
    if (!held && (reporting === "opted-out" || reporting === "spent")) {
      return { value: otherwise, reason: reporting === "spent" ? Reason.DEFAULT : Reason.DISABLED, flagMetadata };
    }
    const choice = held ?? flag.decide(fields, otherwise);
    if (choice.problem) return failed(otherwise, codeOf(flag, choice.problem), choice.problem);
    const reason = held ? Reason.CACHED : reasonOf(flag);
    return { value: flag.value(choice.name) as T, variant: choice.name, reason, flagMetadata };
  }

  /** Joins the tasks that were not joined yet; the problems of those that could not be. */
  private async join(): Promise<string[]> {
    const problems: string[] = [];
    const missing = Object.entries(this.flags).filter(([key]) => !this.joined.has(key));
    await Promise.all(
      missing.map(async ([key, { task = key, values = {} }]) => {
        try {
          const device = await Device.open(this.server, task, this.options);
          this.add(key, new Flag(device, values, this.options.now ?? (() => Date.now() / 1000)));
        } catch (error) {
          problems.push((error as Error).message);
        }
      }),
    );
    if (problems.length > 0) this.retry = setTimeout(() => void this.joinAgain(), RETRY);
    return problems;
  }

  private async joinAgain(): Promise<void> {
    const before = this.joined.size;
    await this.join();
    if (this.joined.size > before)
      this.events.emit(before ? ProviderEvents.ConfigurationChanged : ProviderEvents.Ready);
  }

  private add(key: string, flag: Flag): void {
    this.joined.set(key, flag);
    flag.device.start(this.options.every);
    const changed = () => this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged: [key] });
    for (const news of ["model", "state"]) flag.device.addEventListener(news, changed);
  }
}

function failed<T>(value: T, errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> {
  return { value, reason: Reason.ERROR, errorCode, errorMessage };
}

/** Without an offer nothing was decided; else the fields were not what the task declares. */
function codeOf({ device }: Flag, problem: string): ErrorCode {
  const offered = device.contract.offers.kind === "model" && problem !== NO_MODEL;
  return offered ? ErrorCode.INVALID_CONTEXT : ErrorCode.PROVIDER_NOT_READY;
}

/** Who chose: this browser by a model, the server by a ticket, or nobody any more. */
function reasonOf({ device }: Flag): string {
  if (device.reporting === "done") return Reason.STATIC;
  if (device.reporting === "closed") return Reason.STALE;
  return device.contract.offers.kind === "model" ? Reason.TARGETING_MATCH : Reason.SPLIT;
}

/** What a team may want to see in its hooks. */
function about({ device }: Flag): Record<string, string | number> {
  return { task: device.contract.id, epsilon: device.contract.gates[0]!.epsilon };
}
