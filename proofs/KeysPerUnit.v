(* Several keys a unit: each is decided by itself, and a unit that comes or goes moves the counts of some of them by one.

   A decision is a list of chances of the outcomes 0, ..., m - 1. Two of them are near if every event has, in both
   directions, at most e times its chance and d. What k near decisions give together: `curve` below, the exact
   composition of such guarantees, and `split`, its simplest case. *)

From Coq Require Import Reals Lra Lia List Bool.
From Discreet Require Import Sums Keys.
Import ListNotations.
Open Scope R_scope.

Definition law (m : nat) (p : nat -> R) : Prop :=
  (forall o, (o < m)%nat -> 0 <= p o) /\ sum m p = 1.

Definition of_event (m : nat) (p : nat -> R) (event : nat -> bool) : R :=
  sum m (fun o => if event o then p o else 0).

(* Each pair is a decision with one unit and without; `moved` says whether the unit moves it at all. *)
Record decision := { outcomes : nat; moved : bool; before : nat -> R; after : nat -> R }.

Definition near (e d : R) (one : decision) : Prop :=
  law (outcomes one) (before one) /\ law (outcomes one) (after one) /\
  (if moved one
   then forall event,
     of_event (outcomes one) (before one) event <= e * of_event (outcomes one) (after one) event + d /\
     of_event (outcomes one) (after one) event <= e * of_event (outcomes one) (before one) event + d
   else forall o, (o < outcomes one)%nat -> before one o = after one o).

(* The chance of an event of all decisions together, which are independent; `side` picks with the unit or without. *)
Fixpoint joint (side : decision -> nat -> R) (all : list decision) (event : list nat -> bool) : R :=
  match all with
  | [] => if event [] then 1 else 0
  | one :: others =>
      sum (outcomes one) (fun o => side one o * joint side others (fun rest => event (o :: rest)))
  end.

Fixpoint moves (all : list decision) : nat :=
  match all with
  | [] => 0
  | one :: others => if moved one then S (moves others) else moves others
  end.

(* The largest a P(event) - b Q(event) of k decisions that are near: each is at worst one that with chance d tells all,
   and otherwise one of two answers with the odds e to 1. *)
Fixpoint curve (e d : R) (k : nat) (a b : R) : R :=
  match k with
  | O => Rmax 0 (a - b)
  | S less =>
      d * a
      + (1 - d) * (curve e d less (e / (1 + e) * a) (1 / (1 + e) * b)
                   + curve e d less (1 / (1 + e) * a) (e / (1 + e) * b))
  end.

Section Composition.
Variables e d : R.
Hypothesis e1 : 1 <= e.
Hypothesis d0 : 0 <= d.
Hypothesis d1 : d <= 1.

Local Notation curve := (curve e d).

Lemma odds : 0 < e / (1 + e) < 1 /\ 0 < 1 / (1 + e) < 1 /\ e / (1 + e) + 1 / (1 + e) = 1 /\
  e / (1 + e) = e * (1 / (1 + e)).
Proof.
  assert (inverse : (1 + e) * / (1 + e) = 1) by (apply Rinv_r; lra).
  assert (0 < / (1 + e)) by (apply Rinv_0_lt_compat; lra).
  unfold Rdiv. assert (0 < e * / (1 + e)) by (apply Rmult_lt_0_compat; lra).
  repeat split; lra.
Qed.

Lemma curve_scales : forall k a b s, 0 <= s -> curve k (s * a) (s * b) = s * curve k a b.
Proof.
  induction k as [|k IH]; intros a b s s0; cbn [Discreet.KeysPerUnit.curve].
  - rewrite <- Rmult_minus_distr_l. replace 0 with (s * 0) at 1 by lra. apply RmaxRmult. exact s0.
  - replace (e / (1 + e) * (s * a)) with (s * (e / (1 + e) * a)) by lra.
    replace (1 / (1 + e) * (s * b)) with (s * (1 / (1 + e) * b)) by lra.
    replace (1 / (1 + e) * (s * a)) with (s * (1 / (1 + e) * a)) by lra.
    replace (e / (1 + e) * (s * b)) with (s * (e / (1 + e) * b)) by lra.
    rewrite !IH by assumption. lra.
Qed.

(* The event of all outcomes that are likelier, by a factor, before than after. *)
Definition likelier (p q : nat -> R) (a b : R) (o : nat) : bool :=
  if Rle_dec (a * p o) (b * q o) then false else true.

Lemma excess_is_of_event :
  forall m p q a b,
    sum m (fun o => Rmax 0 (a * p o - b * q o))
    = a * of_event m p (likelier p q a b) - b * of_event m q (likelier p q a b).
Proof.
  intros m p q a b. unfold of_event. rewrite <- !sum_scal, <- sum_minus.
  apply sum_ext. intros o _. unfold likelier.
  destruct (Rle_dec (a * p o) (b * q o)); [rewrite Rmax_left|rewrite Rmax_right]; lra.
Qed.

Lemma of_event_range : forall m p event, law m p -> 0 <= of_event m p event <= 1.
Proof.
  intros m p event [nonneg total]. split.
  - apply sum_nonneg. intros o lt. destruct (event o); [apply nonneg; exact lt|lra].
  - rewrite <- total. apply sum_le. intros o lt. pose proof (nonneg o lt).
    destruct (event o); lra.
Qed.

Lemma of_complement :
  forall m p event, law m p -> of_event m p (fun o => negb (event o)) = 1 - of_event m p event.
Proof.
  intros m p event [_ <-]. unfold of_event. rewrite <- sum_minus. apply sum_ext. intros o _.
  destruct (event o); cbn [negb]; lra.
Qed.

(* One pair that is near is at worst the pair of the curve, at every a and b. *)
Lemma one_step :
  forall m p q a b,
    law m p -> law m q ->
    (forall event, of_event m p event <= e * of_event m q event + d /\
                   of_event m q event <= e * of_event m p event + d) ->
    0 <= a -> 0 <= b -> sum m (fun o => Rmax 0 (a * p o - b * q o)) <= curve 1 a b.
Proof.
  intros m p q a b lp lq both a0 b0. rewrite excess_is_of_event.
  set (event := likelier p q a b).
  destruct (both event) as [first _].
  destruct (both (fun o => negb (event o))) as [_ second].
  rewrite !of_complement in second by assumption.
  pose proof (of_event_range m p event lp) as rp. pose proof (of_event_range m q event lq) as rq.
  set (x := of_event m p event) in *. set (y := of_event m q event) in *. clearbody x y event.
  cbn [Discreet.KeysPerUnit.curve]. destruct odds as [[p0 p1] [[q0 q1] [whole ratio]]].
  set (r := 1 / (1 + e)) in *. rewrite ratio in *. clearbody r.
  assert (r1 : r + e * r = 1) by lra.
  pose proof (Rmax_l 0 (e * r * a - r * b)) as h0. pose proof (Rmax_r 0 (e * r * a - r * b)) as h1.
  pose proof (Rmax_l 0 (r * a - e * r * b)) as l0. pose proof (Rmax_r 0 (r * a - e * r * b)) as l1.
  set (h := Rmax 0 (e * r * a - r * b)) in *. set (l := Rmax 0 (r * a - e * r * b)) in *. clearbody h l.
  (* Three cases, by how b compares with a. *)
  destruct (Rle_dec (e * a) b) as [far|near_enough].
  - (* b >= e a: no more than d a *)
    assert (a * x <= a * (e * y + d)) by (apply Rmult_le_compat_l; lra).
    assert (e * a * y <= b * y) by (apply Rmult_le_compat_r; lra).
    assert (0 <= (1 - d) * h) by (apply Rmult_le_pos; lra).
    assert (0 <= (1 - d) * l) by (apply Rmult_le_pos; lra). lra.
  - destruct (Rle_dec a (e * b)) as [middle|low].
    + (* between: a x - b y = s (x - e y) + t ((1 - y) - e (1 - x)) + rest *)
      assert (some : 0 < e * e - 1 \/ e = 1).
      { destruct (Rle_lt_or_eq_dec 1 e e1) as [lt|eq]; [left|right; lra].
        assert (1 * 1 < e * e) by (apply Rmult_le_0_lt_compat; lra). lra. }
      assert (d * a + (1 - d) * (e * r * a - r * b) <= d * a + (1 - d) * (h + l)).
      { assert ((1 - d) * (e * r * a - r * b) <= (1 - d) * (h + l)) by (apply Rmult_le_compat_l; lra). lra. }
      destruct some as [square|one].
      * (* s = (e b - a) / (e^2 - 1), t = (e a - b) / (e^2 - 1) *)
        pose (s := (e * b - a) / (e * e - 1)). pose (t := (e * a - b) / (e * e - 1)).
        assert (s0 : 0 <= s) by (unfold s, Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
        assert (t0 : 0 <= t) by (unfold t, Rdiv; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
        assert (ea : a = e * t + s) by (unfold s, t; field; lra).
        assert (eb : b = e * s + t) by (unfold s, t; field; lra).
        assert (s * (x - e * y) <= s * d) by (apply Rmult_le_compat_l; lra).
        assert (t * ((1 - y) - e * (1 - x)) <= t * d) by (apply Rmult_le_compat_l; lra).
        assert (gain : e * r * a - r * b = (e - 1) * t).
        { rewrite ea, eb. replace ((e - 1) * t) with ((e - 1) * t * (r + e * r)) by (rewrite r1; lra). lra. }
        assert (a * x - b * y <= d * (s + t) + (e - 1) * t) by (rewrite ea, eb; lra).
        assert (d * a + (1 - d) * (e * r * a - r * b) = d * (s + t) + (e - 1) * t) by (rewrite gain, ea; lra).
        lra.
      * subst e. assert (same : a = b) by lra. subst b.
        assert (a * (x - y) <= a * d) by (apply Rmult_le_compat_l; lra).
        assert (r = 1 / 2) by lra. subst r.
        assert (0 <= (1 - d) * (h + l)) by (apply Rmult_le_pos; lra). lra.
    + (* b <= a / e: a - b and no less than the complement allows *)
      assert (b * (1 - y) <= b * (e * (1 - x) + d)) by (apply Rmult_le_compat_l; lra).
      assert ((e * b) * (1 - x) <= a * (1 - x)) by (apply Rmult_le_compat_r; lra).
      assert ((1 - d) * (a - b) <= (1 - d) * (h + l)).
      { apply Rmult_le_compat_l; [lra|]. assert ((r + e * r) * (a - b) = a - b) by (rewrite r1; lra). lra. }
      lra.
Qed.

Lemma steps :
  forall m p q, law m p -> law m q ->
    (forall event, of_event m p event <= e * of_event m q event + d /\
                   of_event m q event <= e * of_event m p event + d) ->
    forall k a b, 0 <= a -> 0 <= b ->
      sum m (fun o => curve k (a * p o) (b * q o)) <= curve (S k) a b.
Proof.
  intros m p q lp lq both. destruct odds as [[p0 p1] [[q0 q1] [whole _]]].
  induction k as [|k IH]; intros a b a0 b0.
  - apply one_step; assumption.
  - pose proof (IH (e / (1 + e) * a) (1 / (1 + e) * b) ltac:(apply Rmult_le_pos; lra) ltac:(apply Rmult_le_pos; lra))
      as first.
    pose proof (IH (1 / (1 + e) * a) (e / (1 + e) * b) ltac:(apply Rmult_le_pos; lra) ltac:(apply Rmult_le_pos; lra))
      as second.
    rewrite (sum_ext m _ (fun o => d * a * p o
      + (1 - d) * (curve k (e / (1 + e) * a * p o) (1 / (1 + e) * b * q o)
                   + curve k (1 / (1 + e) * a * p o) (e / (1 + e) * b * q o)))).
    + rewrite sum_plus, !sum_scal, sum_plus. destruct lp as [_ ->].
      change (curve (S (S k)) a b) with
        (d * a + (1 - d) * (curve (S k) (e / (1 + e) * a) (1 / (1 + e) * b)
                            + curve (S k) (1 / (1 + e) * a) (e / (1 + e) * b))).
      rewrite Rmult_1_r. apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra.
    + intros o _. cbn [Discreet.KeysPerUnit.curve]. rewrite <- !Rmult_assoc. reflexivity.
Qed.

Lemma joint_nonneg :
  forall side all event,
    (forall one, In one all -> law (outcomes one) (side one)) -> 0 <= joint side all event.
Proof.
  intros side. induction all as [|one others IH]; intros event laws; cbn [joint].
  - destruct (event []); lra.
  - apply sum_nonneg. intros o lt. apply Rmult_le_pos.
    + destruct (laws one (or_introl eq_refl)) as [nonneg _]. apply nonneg. exact lt.
    + apply IH. intros other inside. apply laws. right. exact inside.
Qed.

(* With one unit against without, and the other way round. *)
Theorem together :
  forall all, (forall one, In one all -> near e d one) ->
    forall event a b, 0 <= a -> 0 <= b ->
      a * joint before all event <= b * joint after all event + curve (moves all) a b /\
      a * joint after all event <= b * joint before all event + curve (moves all) a b.
Proof.
  induction all as [|one others IH]; intros nears event a b a0 b0.
  - cbn [joint moves Discreet.KeysPerUnit.curve].
    pose proof (Rmax_l 0 (a - b)). pose proof (Rmax_r 0 (a - b)). destruct (event []); lra.
  - destruct (nears one (or_introl eq_refl)) as [lp [lq own]].
    assert (rest : forall x y o, 0 <= x -> 0 <= y ->
              x * joint before others (fun r => event (o :: r))
              <= y * joint after others (fun r => event (o :: r)) + curve (moves others) x y /\
              x * joint after others (fun r => event (o :: r))
              <= y * joint before others (fun r => event (o :: r)) + curve (moves others) x y).
    { intros x y o x0 y0. apply IH; try assumption. intros other inside. apply nears. right. exact inside. }
    destruct lp as [p0 p1]. destruct lq as [q0 q1].
    cbn [joint moves]. rewrite <- !sum_scal.
    assert (up : sum (outcomes one) (fun o => a * (before one o * joint before others (fun r => event (o :: r))))
                 <= sum (outcomes one) (fun o => b * (after one o * joint after others (fun r => event (o :: r)))
                      + curve (moves others) (a * before one o) (b * after one o))).
    { apply sum_le. intros o lt. rewrite <- !Rmult_assoc. apply rest; apply Rmult_le_pos; auto. }
    assert (down : sum (outcomes one) (fun o => a * (after one o * joint after others (fun r => event (o :: r))))
                   <= sum (outcomes one) (fun o => b * (before one o * joint before others (fun r => event (o :: r)))
                        + curve (moves others) (a * after one o) (b * before one o))).
    { apply sum_le. intros o lt. rewrite <- !Rmult_assoc. apply rest; apply Rmult_le_pos; auto. }
    rewrite sum_plus in up, down.
    destruct (moved one).
    + pose proof (steps (outcomes one) (before one) (after one) (conj p0 p1) (conj q0 q1) own
        (moves others) a b a0 b0) as first.
      assert (back : forall event0,
        of_event (outcomes one) (after one) event0 <= e * of_event (outcomes one) (before one) event0 + d /\
        of_event (outcomes one) (before one) event0 <= e * of_event (outcomes one) (after one) event0 + d).
      { intros event0. destruct (own event0). split; assumption. }
      pose proof (steps (outcomes one) (after one) (before one) (conj q0 q1) (conj p0 p1) back
        (moves others) a b a0 b0) as second.
      split; lra.
    + assert (still : sum (outcomes one) (fun o => curve (moves others) (a * before one o) (b * after one o))
                      = curve (moves others) a b).
      { rewrite (sum_ext _ _ (fun o => before one o * curve (moves others) a b)).
        - rewrite sum_scal_r, p1. lra.
        - intros o lt. rewrite <- (own o lt), !(Rmult_comm _ (before one o)). apply curve_scales, p0, lt. }
      assert (still2 : sum (outcomes one) (fun o => curve (moves others) (a * after one o) (b * before one o))
                       = curve (moves others) a b).
      { rewrite (sum_ext _ _ (fun o => before one o * curve (moves others) a b)).
        - rewrite sum_scal_r, p1. lra.
        - intros o lt. rewrite <- (own o lt), !(Rmult_comm _ (before one o)). apply curve_scales, p0, lt. }
      split; lra.
Qed.

(* The curve without d, and with it: the part that tells all comes off. *)
Fixpoint responses (k : nat) (a b : R) : R :=
  match k with
  | O => Rmax 0 (a - b)
  | S less => responses less (e / (1 + e) * a) (1 / (1 + e) * b)
              + responses less (1 / (1 + e) * a) (e / (1 + e) * b)
  end.

Theorem curve_is :
  forall k a b, curve k a b = a * (1 - (1 - d) ^ k) + (1 - d) ^ k * responses k a b.
Proof.
  destruct odds as [_ [_ [whole _]]].
  induction k as [|k IH]; intros a b; cbn [Discreet.KeysPerUnit.curve responses pow]; [lra|].
  rewrite !IH. set (r := 1 / (1 + e)) in *. set (s := e / (1 + e)) in *.
  replace s with (1 - r) by lra. set (w := (1 - d) ^ k). lra.
Qed.

Lemma responses_end : forall k a b, 0 <= a -> 0 <= b -> e ^ k * a <= b -> responses k a b = 0.
Proof.
  destruct odds as [[s0 s1] [[r0 r1] [whole ratio]]].
  induction k as [|k IH]; intros a b a0 b0 far; cbn [responses pow] in *.
  - apply Rmax_left. lra.
  - assert (power : 0 < e ^ k) by (apply pow_lt; lra).
    rewrite !IH; try (apply Rmult_le_pos; lra); [lra| |].
    + assert (e ^ k * (1 / (1 + e) * a) <= 1 / (1 + e) * b).
      { replace (e ^ k * (1 / (1 + e) * a)) with (1 / (1 + e) * (e ^ k * a)) by lra.
        apply Rmult_le_compat_l; [lra|].
        assert (1 * (e ^ k * a) <= e * (e ^ k * a))
          by (apply Rmult_le_compat_r; [apply Rmult_le_pos|]; lra). lra. }
      assert (1 / (1 + e) * b <= e / (1 + e) * b).
      { apply Rmult_le_compat_r; [exact b0|]. rewrite ratio.
        assert (1 * (1 / (1 + e)) <= e * (1 / (1 + e))) by (apply Rmult_le_compat_r; lra). lra. }
      lra.
    + rewrite ratio.
      replace (e ^ k * (e * (1 / (1 + e)) * a)) with (1 / (1 + e) * (e * e ^ k * a)) by lra.
      apply Rmult_le_compat_l; lra.
Qed.

(* Of how many ways k decisions have l of one kind. *)
Fixpoint choose (k l : nat) : nat :=
  match k, l with
  | _, O => 1
  | O, S _ => 0
  | S k', S l' => choose k' l' + choose k' (S l')
  end.

Lemma choose_none : forall k l, (k < l)%nat -> choose k l = 0%nat.
Proof.
  induction k as [|k IH]; intros [|l] lt; try lia; [reflexivity|]. cbn [choose]. rewrite !IH by lia. reflexivity.
Qed.

Lemma choose_0 : forall k, choose k 0 = 1%nat.
Proof. intros [|k]; reflexivity. Qed.

(* As it is computed: a sum over how many of k randomised responses point the other way. *)
Theorem responses_are :
  forall k a b,
    responses k a b
    = sum (S k) (fun l => INR (choose k l) *
        Rmax 0 ((e / (1 + e)) ^ (k - l) * (1 / (1 + e)) ^ l * a - (1 / (1 + e)) ^ (k - l) * (e / (1 + e)) ^ l * b)).
Proof.
  set (s := e / (1 + e)). set (r := 1 / (1 + e)).
  induction k as [|k IH]; intros a b; cbn [responses].
  - cbn [sum choose Nat.sub pow INR]. rewrite !Rmult_1_l. lra.
  - fold s r. rewrite !IH.
    pose (g := fun l => Rmax 0 (s ^ (S k - l) * r ^ l * a - r ^ (S k - l) * s ^ l * b)).
    rewrite (sum_ext (S k) _ (fun l => INR (choose k l) * g l)).
    2: { intros l lt. unfold g. replace (S k - l)%nat with (S (k - l)) by lia. cbn [pow].
         do 2 f_equal; lra. }
    rewrite (sum_ext (S k) (fun l => INR (choose k l) * Rmax 0 (s ^ (k - l) * r ^ l * (r * a) - r ^ (k - l) * s ^ l * (s * b)))
              (fun l => INR (choose k l) * g (S l))).
    2: { intros l lt. unfold g. replace (S k - S l)%nat with (k - l)%nat by lia. cbn [pow].
         do 2 f_equal; lra. }
    rewrite (sum_ext (S (S k)) _ (fun l => INR (choose (S k) l) * g l)) by reflexivity.
    rewrite (sum_first (S k) (fun l => INR (choose (S k) l) * g l)), choose_0.
    rewrite (sum_ext (S k) (fun l => INR (choose (S k) (S l)) * g (S l))
              (fun l => INR (choose k l) * g (S l) + INR (choose k (S l)) * g (S l))).
    2: { intros l lt. cbn [choose]. rewrite plus_INR. lra. }
    rewrite sum_plus, (sum_first k (fun l => INR (choose k l) * g l)), choose_0.
    cbn [sum]. rewrite (choose_none k (S k)) by lia. cbn [INR]. lra.
Qed.

(* The split: k keys of (e, d) each are (e^k, 1 - (1 - d)^k) together. *)
Theorem split :
  forall all, (forall one, In one all -> near e d one) ->
    forall event,
      joint before all event <= e ^ moves all * joint after all event + (1 - (1 - d) ^ moves all) /\
      joint after all event <= e ^ moves all * joint before all event + (1 - (1 - d) ^ moves all).
Proof.
  intros all nears event.
  assert (power : 0 < e ^ moves all) by (apply pow_lt; lra).
  destruct (together all nears event 1 (e ^ moves all) ltac:(lra) ltac:(lra)) as [up down].
  rewrite curve_is, (responses_end (moves all) 1 (e ^ moves all)) in up, down by lra.
  split; lra.
Qed.

End Composition.

(* ---- Keys ---- *)

(* The decision on a key that n units hold, or one more, and on one whose count stays; 0 is no answer, 1 + i the answer i. *)
Definition to_answer (o : nat) : option nat := match o with O => None | S i => Some i end.

Definition answer_chance (e d : R) (n o : nat) : R :=
  match o with O => 1 - pi e d n | S i => f e d (n - i) end.

Inductive change := up | down | still.

Definition key (e d : R) (one : nat * change) : decision :=
  let (n, which) := one in
  {| outcomes := S (S n);
     moved := match which with still => false | _ => true end;
     before := answer_chance e d (match which with down => S n | _ => n end);
     after := answer_chance e d (match which with up => S n | _ => n end) |}.

Section OfKeys.
Variables e d : R.
Hypothesis e1 : 1 < e.
Hypothesis d0 : 0 < d.
Hypothesis d1 : d < 1.

Lemma event_of_key :
  forall n less event, (less <= 1)%nat ->
    of_event (S (S n)) (answer_chance e d (less + n)) (fun o => event (to_answer o)) = chance e d (less + n) event.
Proof.
  intros n less event few. unfold of_event. rewrite sum_first. cbn [to_answer answer_chance].
  destruct less as [|[|less]]; [| |lia]; cbn [Nat.add].
  - symmetry. apply chance_upto_next.
  - reflexivity.
Qed.

Lemma law_of_key : forall n less, (less <= 1)%nat -> law (S (S n)) (answer_chance e d (less + n)).
Proof.
  intros n less few. split.
  - intros [|i] _; cbn [answer_chance]; [|apply f_nonneg; assumption].
    assert (0 <= pi e d (less + n) <= 1) by (apply pi_bounds; assumption). lra.
  - pose proof (event_of_key n less (fun _ => true) few) as all. unfold of_event in all.
    rewrite <- (chances_sum_to_one e d (less + n)). exact all.
Qed.

Lemma events_of_key :
  forall n event,
    of_event (S (S n)) (answer_chance e d n) event <= e * of_event (S (S n)) (answer_chance e d (S n)) event + d /\
    of_event (S (S n)) (answer_chance e d (S n)) event <= e * of_event (S (S n)) (answer_chance e d n) event + d.
Proof.
  intros n event.
  pose (told := fun answer => match answer with None => event 0%nat | Some i => event (S i) end).
  assert (same : forall less, (less <= 1)%nat ->
            of_event (S (S n)) (answer_chance e d (less + n)) event = chance e d (less + n) told).
  { intros less few. rewrite <- event_of_key by exact few. unfold of_event. apply sum_ext.
    intros [|i] _; reflexivity. }
  pose proof (same 0%nat ltac:(lia)) as zero. pose proof (same 1%nat ltac:(lia)) as one.
  cbn [Nat.add] in zero, one. rewrite zero, one.
  split; [apply keys_down; assumption|apply keys_up; assumption].
Qed.

Lemma key_is_near : forall one, near e d (key e d one).
Proof.
  intros [n which]. unfold near, key. cbn [outcomes moved before after].
  pose proof (law_of_key n 0 ltac:(lia)) as l0. pose proof (law_of_key n 1 ltac:(lia)) as l1.
  cbn [Nat.add] in l0, l1.
  destruct which; split; try assumption; split; try assumption; intros event.
  - apply events_of_key.
  - destruct (events_of_key n event). split; assumption.
  - reflexivity.
Qed.

Lemma keys_are_near : forall counts one, In one (map (key e d) counts) -> near e d one.
Proof. intros counts one inside. apply in_map_iff in inside. destruct inside as [count [<- _]]. apply key_is_near. Qed.

(* A unit that raises some counts by one and lowers others, noisy counts released or not: all keys together. *)
Theorem keys_together :
  forall counts event c, 0 <= c ->
    let all := map (key e d) counts in
    let k := moves all in
    joint before all event <= c * joint after all event + (1 - (1 - d) ^ k * (1 - responses e k 1 c)) /\
    joint after all event <= c * joint before all event + (1 - (1 - d) ^ k * (1 - responses e k 1 c)).
Proof.
  intros counts event c c0 all k.
  assert (both : 1 * joint before all event <= c * joint after all event + curve e d k 1 c /\
                 1 * joint after all event <= c * joint before all event + curve e d k 1 c)
    by (apply together; try lra; apply keys_are_near).
  destruct both as [first second].
  rewrite curve_is in first, second by lra. split; lra.
Qed.

Theorem keys_split :
  forall counts event,
    let all := map (key e d) counts in
    let k := moves all in
    joint before all event <= e ^ k * joint after all event + (1 - (1 - d) ^ k) /\
    joint after all event <= e ^ k * joint before all event + (1 - (1 - d) ^ k).
Proof. intros counts event all k. apply split; try lra. apply keys_are_near. Qed.

(* ---- No smaller delta: k keys that nobody else has ---- *)

Definition nothing (answers : list nat) : bool := forallb (Nat.eqb 0) answers.

Lemma joint_none : forall side all, joint side all (fun _ => false) = 0.
Proof.
  intros side. induction all as [|one others IH]; cbn [joint]; [reflexivity|].
  rewrite IH. transitivity (sum (outcomes one) (fun _ => 0)); [|apply sum_zero].
  apply sum_ext. intros o _. lra.
Qed.

Lemma only_first : forall m p x, (forall o, (0 < o)%nat -> p o * x o = 0) -> (0 < m)%nat ->
  sum m (fun o => p o * x o) = p 0%nat * x 0%nat.
Proof.
  intros [|m] p x zero some; [lia|]. rewrite sum_first.
  rewrite (sum_ext m _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros o _. apply zero. lia.
Qed.

Lemma joint_nothing :
  forall side k, joint side (repeat (key e d (0%nat, up)) k) nothing = side (key e d (0%nat, up)) 0%nat ^ k.
Proof.
  intros side. induction k as [|k IH]; [reflexivity|].
  cbn [repeat joint pow]. rewrite (only_first _ _ (fun o => joint side _ (fun rest => nothing (o :: rest)))).
  - rewrite <- IH. reflexivity.
  - intros [|o] some; [lia|]. unfold nothing. cbn [forallb Nat.eqb andb]. rewrite joint_none. lra.
  - cbn. lia.
Qed.

Lemma joint_negb :
  forall side all event, (forall one, In one all -> sum (outcomes one) (side one) = 1) ->
    joint side all (fun answers => negb (event answers)) = 1 - joint side all event.
Proof.
  intros side. induction all as [|one others IH]; intros event total; cbn [joint].
  - destruct (event []); cbn [negb]; lra.
  - rewrite <- (total one (or_introl eq_refl)), <- sum_minus. apply sum_ext. intros o _.
    rewrite (IH (fun rest => event (o :: rest))); [lra|]. intros other inside. apply total. right. exact inside.
Qed.

Theorem split_is_tight :
  forall k,
    let all := repeat (key e d (0%nat, up)) k in
    let some answers := negb (nothing answers) in
    moves all = k /\ joint before all some = 0 /\ joint after all some = 1 - (1 - d) ^ k.
Proof.
  intros k all some. split; [|split].
  - unfold all. clear. induction k as [|k IH]; [reflexivity|].
    change (S (moves (repeat (key e d (0%nat, up)) k)) = S k). f_equal. exact IH.
  - unfold some. rewrite joint_negb.
    + unfold all. rewrite joint_nothing. cbn [key before answer_chance pi]. rewrite Rminus_0_r, pow1. lra.
    + intros one inside. apply repeat_spec in inside. subst one.
      destruct (key_is_near (0%nat, up)) as [[_ total] _]. exact total.
  - unfold some. rewrite joint_negb.
    + unfold all. rewrite joint_nothing. cbn [key after answer_chance]. rewrite pi_1 by assumption. reflexivity.
    + intros one inside. apply repeat_spec in inside. subst one.
      destruct (key_is_near (0%nat, up)) as [_ [[_ total] _]]. exact total.
Qed.

End OfKeys.
