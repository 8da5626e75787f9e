(* Keys that a table shows, each with a noisy count: docs/explanation/privacy.md and mechanisms/private_keys.py.

   A key that n units hold is shown with probability pi n, the largest that (epsilon, delta) allows; e stands for
   exp epsilon and d for delta, both any real numbers. The count that decides whether it is shown comes with it. *)

From Coq Require Import Reals Lra Lia Bool.
From Discreet Require Import Sums.
Open Scope R_scope.

(* What one unit more allows at most: twice a guarantee of (e, d), and a probability. *)
Definition step (e d x : R) : R := Rmin (Rmin (e * x + d) (1 - (1 - x - d) / e)) 1.

Fixpoint pi (e d : R) (n : nat) : R :=
  match n with
  | O => 0
  | S m => step e d (pi e d m)
  end.

(* The chance of the whole number m that decides: 1 <= m, and the key is shown if m <= n. *)
Definition f (e d : R) (m : nat) : R :=
  match m with
  | O => 0
  | S l => pi e d (S l) - pi e d l
  end.

(* An answer for one key: None where it is not shown, Some i where it is shown with the count t + i, for a public t.
   The chance of Some i is that of the number m = n - i; f is 0 at 0, so i < n. *)
Definition chance (e d : R) (n : nat) (event : option nat -> bool) : R :=
  (if event None then 1 - pi e d n else 0)
  + sum n (fun i => if event (Some i) then f e d (n - i) else 0).

Section Guarantee.
Variables e d : R.
Hypothesis e1 : 1 < e.
Hypothesis d0 : 0 < d.
Hypothesis d1 : d < 1.

Local Notation step := (step e d).
Local Notation pi := (pi e d).
Local Notation f := (f e d).
Local Notation chance := (chance e d).

Lemma part_of : forall x, e * (x / e) = x.
Proof. intros x. field. lra. Qed.

(* All that is asked of the next probability, without the division. *)
Lemma step_bounds :
  forall x, step x <= e * x + d /\ 1 - x <= e * (1 - step x) + d /\ step x <= 1.
Proof.
  intros x. unfold step.
  pose proof (Rmin_l (Rmin (e * x + d) (1 - (1 - x - d) / e)) 1) as left.
  pose proof (Rmin_r (Rmin (e * x + d) (1 - (1 - x - d) / e)) 1) as one.
  pose proof (Rmin_l (e * x + d) (1 - (1 - x - d) / e)) as first.
  pose proof (Rmin_r (e * x + d) (1 - (1 - x - d) / e)) as second.
  set (y := Rmin _ 1) in *. set (z := Rmin _ _) in *. clearbody y z.
  split; [lra|split; [|lra]].
  pose proof (part_of (1 - x - d)) as whole.
  assert (e * y <= e * (1 - (1 - x - d) / e)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma step_greatest :
  forall x y, y <= e * x + d -> 1 - x <= e * (1 - y) + d -> y <= 1 -> y <= step x.
Proof.
  intros x y first second one. unfold step.
  apply Rmin_glb; [apply Rmin_glb; [exact first|]|exact one].
  apply Rmult_le_reg_l with e; [lra|]. pose proof (part_of (1 - x - d)) as whole. lra.
Qed.

Lemma step_is_one_of :
  forall x, step x = e * x + d \/ 1 - x = e * (1 - step x) + d \/ step x = 1.
Proof.
  intros x. unfold step, Rmin. pose proof (part_of (1 - x - d)) as whole.
  destruct (Rle_dec (e * x + d) (1 - (1 - x - d) / e)) as [lower|upper].
  - destruct (Rle_dec (e * x + d) 1) as [below|above]; [left|right; right]; reflexivity.
  - destruct (Rle_dec (1 - (1 - x - d) / e) 1) as [below|above]; right; [left; lra|right; reflexivity].
Qed.

Lemma step_up : forall x, 0 <= x <= 1 -> x <= step x <= 1.
Proof.
  intros x [x0 x1]. split; [|apply step_bounds].
  assert (0 <= (e - 1) * x) by (apply Rmult_le_pos; lra).
  assert (0 <= (e - 1) * (1 - x)) by (apply Rmult_le_pos; lra).
  apply step_greatest; lra.
Qed.

Lemma step_slope : forall x y, x <= y -> step y - step x <= e * (y - x).
Proof.
  intros x y le.
  assert (0 <= (e - 1) * (y - x)) by (apply Rmult_le_pos; lra).
  assert (0 <= (e - 1) * (e - 1) * (y - x))
    by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  destruct (step_bounds y) as [a [b c]].
  destruct (step_is_one_of x) as [first|[second|one]]; [lra| |lra].
  assert (e * (step y - step x) <= e * (e * (y - x))) by lra.
  apply Rmult_le_reg_l with e; lra.
Qed.

Lemma pi_S : forall n, pi (S n) = step (pi n).
Proof. reflexivity. Qed.

Theorem pi_bounds : forall n, 0 <= pi n <= 1.
Proof.
  induction n as [|n IH]; [cbn; lra|]. rewrite pi_S. pose proof (step_up (pi n) IH). lra.
Qed.

Theorem pi_grows : forall n, pi n <= pi (S n).
Proof. intros n. rewrite pi_S. apply step_up, pi_bounds. Qed.

Lemma pi_1 : pi 1 = d.
Proof.
  change (step 0 = d). apply Rle_antisym.
  - destruct (step_bounds 0) as [first _]. lra.
  - assert (0 <= (e - 1) * (1 - d)) by (apply Rmult_le_pos; lra). apply step_greatest; lra.
Qed.

(* ---- The most that is allowed ---- *)

(* The guarantee for whether a key is shown: in both directions, of its being shown and of its not being shown. *)
Definition private_rule (rule : nat -> R) : Prop :=
  forall n,
    rule (S n) <= e * rule n + d /\ rule n <= e * rule (S n) + d /\
    1 - rule n <= e * (1 - rule (S n)) + d /\ 1 - rule (S n) <= e * (1 - rule n) + d.

Theorem pi_private : private_rule pi.
Proof.
  intros n. pose proof (pi_bounds n) as now. pose proof (pi_grows n) as up.
  pose proof (pi_bounds (S n)) as next.
  destruct (step_bounds (pi n)) as [first [second _]]. rewrite <- pi_S in first, second.
  assert (0 <= (e - 1) * pi (S n)) by (apply Rmult_le_pos; lra).
  assert (0 <= (e - 1) * (1 - pi n)) by (apply Rmult_le_pos; lra).
  repeat split; lra.
Qed.

Theorem pi_optimal :
  forall rule, (forall n, 0 <= rule n <= 1) -> rule 0%nat = 0 -> private_rule rule ->
    forall n, rule n <= pi n.
Proof.
  intros rule range zero keeps.
  induction n as [|n IH]; [rewrite zero; cbn; lra|]. rewrite pi_S.
  destruct (keeps n) as [first [_ [second _]]].
  assert (e * rule n <= e * pi n) by (apply Rmult_le_compat_l; lra).
  apply step_greatest; [lra|lra|apply range].
Qed.

Lemma pi_at_least : forall n, Rmin 1 (INR n * d) <= pi n.
Proof.
  induction n as [|n IH].
  - cbn [INR]. rewrite Rmult_0_l. cbn. apply Rmin_r.
  - rewrite S_INR, pi_S. pose proof (pi_bounds n) as range.
    apply step_greatest; [| |apply Rmin_l].
    + pose proof (Rmin_r 1 ((INR n + 1) * d)) as right.
      assert (0 <= (e - 1) * pi n) by (apply Rmult_le_pos; lra).
      destruct (Rle_dec 1 (INR n * d)) as [big|small].
      * rewrite Rmin_left in IH by lra. pose proof (Rmin_l 1 ((INR n + 1) * d)). lra.
      * rewrite Rmin_right in IH by lra. lra.
    + pose proof (Rmin_l 1 ((INR n + 1) * d)) as one.
      pose proof (Rmin_r 1 ((INR n + 1) * d)) as right.
      assert (0 <= (e - 1) * (1 - Rmin 1 ((INR n + 1) * d))) by (apply Rmult_le_pos; lra).
      destruct (Rle_dec 1 (INR n * d)) as [big|small].
      * rewrite Rmin_left in IH by lra. lra.
      * rewrite Rmin_right in IH by lra. lra.
Qed.

(* From a public count on a key is always shown. *)
Theorem pi_is_one : exists N, forall n, (N <= n)%nat -> pi n = 1.
Proof.
  destruct (archimed_cor1 d d0) as [N [small some]]. exists N. intros n le.
  apply Rle_antisym; [apply pi_bounds|].
  pose proof (pi_at_least n) as low. apply lt_0_INR in some. apply le_INR in le.
  assert (1 <= INR n * d).
  { assert (INR N * / INR N <= INR N * d) by (apply Rmult_le_compat_l; lra).
    rewrite Rinv_r in * by lra.
    assert (INR N * d <= INR n * d) by (apply Rmult_le_compat_r; lra). lra. }
  rewrite Rmin_left in low by lra. exact low.
Qed.

(* ---- The count comes with it ---- *)

Lemma f_nonneg : forall m, 0 <= f m.
Proof. intros [|m]; [cbn; lra|]. change (0 <= pi (S m) - pi m). pose proof (pi_grows m). lra. Qed.

Lemma f_1 : f 1 = d.
Proof. change (pi 1 - 0 = d). rewrite pi_1. lra. Qed.

(* A number V, uniform on [0, 1), decides by the m with pi (m - 1) <= V < pi m. *)
Lemma f_sums : forall n, sum n (fun l => f (S l)) = pi n.
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [sum]. rewrite IH.
  change (pi n + (pi (S n) - pi n) = pi (S n)). lra.
Qed.

Lemma f_slope : forall m, (0 < m)%nat -> f (S m) <= e * f m.
Proof. intros [|m] some; [lia|]. apply (step_slope (pi m) (pi (S m))), pi_grows. Qed.

Lemma chance_upto_next :
  forall n event,
    chance n event = (if event None then 1 - pi n else 0)
                     + sum (S n) (fun i => if event (Some i) then f (n - i) else 0).
Proof.
  intros n event. unfold chance. cbn [sum]. rewrite Nat.sub_diag. cbn [Keys.f].
  destruct (event (Some n)); lra.
Qed.

Lemma chance_any : forall n, sum n (fun i => f (n - i)) = pi n.
Proof.
  intros n. rewrite <- (f_sums n), <- (sum_rev n (fun l => f (S l))).
  apply sum_ext. intros i lt. f_equal. lia.
Qed.

Theorem chances_sum_to_one : forall n, chance n (fun _ => true) = 1.
Proof. intros n. unfold chance. rewrite chance_any. lra. Qed.

(* With its count a key is shown as often as without: as often as is allowed. *)
Theorem shown_as_often :
  forall n, chance n (fun answer => match answer with None => false | Some _ => true end) = pi n.
Proof. intros n. unfold chance. rewrite chance_any. lra. Qed.

Lemma difference :
  forall c n m (event : option nat -> bool),
    sum n (fun i => if event (Some i) then f (S m - i) else 0)
    - c * sum n (fun i => if event (Some i) then f (m - i) else 0)
    = sum n (fun i => if event (Some i) then f (S m - i) - c * f (m - i) else 0).
Proof.
  intros c n m event. rewrite <- sum_scal, <- sum_minus. apply sum_ext. intros i _.
  destruct (event (Some i)); lra.
Qed.

(* One unit more. *)
Theorem keys_up : forall n event, chance (S n) event <= e * chance n event + d.
Proof.
  intros n event. rewrite (chance_upto_next n). unfold chance. cbn [sum].
  replace (S n - n)%nat with 1%nat by lia. rewrite f_1. rewrite Nat.sub_diag.
  change (f 0) with 0.
  pose proof (difference e n n event) as terms.
  assert (falls : sum n (fun i => if event (Some i) then f (S n - i) - e * f (n - i) else 0) <= 0).
  { apply Rle_trans with (sum n (fun _ => 0)); [|rewrite sum_zero; lra].
    apply sum_le. intros i lt. cbv beta. destruct (event (Some i)); [|lra].
    replace (S n - i)%nat with (S (n - i)) by lia.
    pose proof (f_slope (n - i) ltac:(lia)). lra. }
  pose proof (pi_grows n). pose proof (pi_bounds n).
  assert (0 <= (e - 1) * (1 - pi n)) by (apply Rmult_le_pos; lra).
  set (more := sum n _) in *. set (fewer := sum n (fun i => if event (Some i) then f (n - i) else 0)) in *.
  destruct (event None), (event (Some n)); lra.
Qed.

(* By how much e (1 - pi (n + 1)) + d exceeds 1 - pi n, and what of it is there for any larger pi (n + 1). *)
Let b (n : nat) : R := e * (1 - pi (S n)) + d - (1 - pi n).
Let c (n : nat) : R := Rmax 0 (pi n + d - 1).

Lemma b_at_least : forall n, c n <= b n.
Proof.
  intros n. unfold b, c. destruct (step_bounds (pi n)) as [_ [second one]].
  rewrite <- pi_S in second, one.
  assert (0 <= e * (1 - pi (S n))) by (apply Rmult_le_pos; lra).
  apply Rmax_lub; lra.
Qed.

Lemma c_grows : forall n, c n <= c (S n).
Proof.
  intros n. unfold c. pose proof (pi_grows n). apply Rmax_lub; [apply Rmax_l|].
  apply Rle_trans with (pi (S n) + d - 1); [lra|apply Rmax_r].
Qed.

Lemma b_step : forall n, b (S n) - b n <= c (S n) - c n.
Proof.
  intros n. pose proof (b_at_least n) as low. pose proof (c_grows n) as up.
  pose proof (pi_grows n) as grows.
  destruct (step_is_one_of (pi (S n))) as [first|[second|one]]; rewrite <- pi_S in *.
  - destruct (step_bounds (pi n)) as [above _]. rewrite <- pi_S in above.
    assert (0 <= (e * e - 1) * (pi (S n) - pi n)).
    { apply Rmult_le_pos; [|lra].
      assert (0 <= (e - 1) * (e - 1)) by (apply Rmult_le_pos; lra). lra. }
    assert (e * pi (S n) <= e * (e * pi n + d)) by (apply Rmult_le_compat_l; lra).
    unfold b at 1 2. rewrite first. lra.
  - assert (zero : b (S n) = 0) by (unfold b; lra).
    assert (0 <= c (S n)) by apply Rmax_l. lra.
  - assert (same : b (S n) = pi (S n) + d - 1) by (unfold b; rewrite one; lra).
    assert (pi (S n) + d - 1 <= c (S n)) by apply Rmax_r. lra.
Qed.

(* One unit fewer. *)
Theorem keys_down : forall n event, chance n event <= e * chance (S n) event + d.
Proof.
  intros n event. unfold chance. cbn [sum].
  replace (S n - n)%nat with 1%nat by lia.
  assert (terms : sum n (fun i => if event (Some i) then f (n - i) else 0)
                  - e * sum n (fun i => if event (Some i) then f (S n - i) else 0)
                  <= sum n (fun i => c (n - i) - c (n - i - 1))).
  { rewrite <- sum_scal, <- sum_minus. apply sum_le. intros i lt. cbv beta.
    pose proof (c_grows (n - i - 1)) as up. replace (S (n - i - 1)) with (n - i)%nat in up by lia.
    destruct (event (Some i)); [|lra].
    pose proof (b_step (n - i - 1)) as move. unfold b in move.
    replace (S n - i)%nat with (S (n - i)) by lia.
    replace (S (n - i - 1)) with (n - i)%nat in move by lia.
    replace (n - i)%nat with (S (n - i - 1)) at 1 by lia. cbn [Keys.f].
    change (Keys.pi e d (S (n - i - 1))) with (pi (S (n - i - 1))).
    replace (S (n - i - 1)) with (n - i)%nat by lia. lra. }
  assert (telescope : sum n (fun i => c (n - i) - c (n - i - 1)) = c n - c 0).
  { rewrite <- sum_rev.
    rewrite (sum_ext n _ (fun i => c (S i) - c i)).
    - clear. induction n as [|n IH]; cbn [sum]; [|rewrite IH]; lra.
    - intros i lt. replace (n - (n - 1 - i))%nat with (S i) by lia.
      replace (S i - 1)%nat with i by lia. reflexivity. }
  assert (start : c 0 = 0) by (unfold c; apply Rmax_left; cbn; lra).
  pose proof (b_at_least n) as low. unfold b in low. pose proof (pi_bounds n).
  assert (c n <= d) by (unfold c; apply Rmax_lub; lra).
  assert (0 <= e * f 1) by (apply Rmult_le_pos; [lra|apply f_nonneg]).
  set (fewer := sum n (fun i => if event (Some i) then f (n - i) else 0)) in *.
  set (more := sum n (fun i => if event (Some i) then f (S n - i) else 0)) in *.
  destruct (event None), (event (Some n)); lra.
Qed.

(* With a floor: a key of n units is answered as one of n - less, and not at all up to `less` units. *)
Theorem keys_with_floor :
  forall less n event,
    chance (S n - less) event <= e * chance (n - less) event + d /\
    chance (n - less) event <= e * chance (S n - less) event + d.
Proof.
  intros less n event. destruct (Nat.le_gt_cases less n) as [le|gt].
  - replace (S n - less)%nat with (S (n - less)) by lia. split; [apply keys_up|apply keys_down].
  - replace (S n - less)%nat with (n - less)%nat by lia.
    assert (0 <= chance (n - less) event).
    { unfold chance. pose proof (pi_bounds (n - less)).
      assert (0 <= sum (n - less) (fun i => if event (Some i) then f (n - less - i) else 0)).
      { apply sum_nonneg. intros i _. destruct (event (Some i)); [apply f_nonneg|lra]. }
      destruct (event None); lra. }
    assert (0 <= (e - 1) * chance (n - less) event) by (apply Rmult_le_pos; lra).
    split; lra.
Qed.

(* ---- No smaller delta will do ---- *)

Definition only (one answer : option nat) : bool :=
  match one, answer with
  | None, None => true
  | Some i, Some j => Nat.eqb i j
  | _, _ => false
  end.

(* At every count: the answer that one unit fewer cannot give has probability d. *)
Theorem delta_needed :
  forall n, chance (S n) (only (Some n)) = d /\ chance n (only (Some n)) = 0.
Proof.
  assert (other : forall n m, (n <= m)%nat ->
            sum n (fun i => if only (Some m) (Some i) then f (m - i) else 0) = 0).
  { intros n m le. transitivity (sum n (fun _ => 0)); [|apply sum_zero].
    apply sum_ext. intros i lt. cbn [only].
    destruct (Nat.eqb_spec m i); [lia|reflexivity]. }
  intros n. unfold chance. split.
  - cbn [only sum]. rewrite Nat.eqb_refl. replace (S n - n)%nat with 1%nat by lia. rewrite f_1.
    rewrite (sum_ext n _ (fun _ => 0)), sum_zero; [lra|].
    intros i lt. destruct (Nat.eqb_spec n i); [lia|reflexivity].
  - rewrite (other n n (le_n n)). cbn [only]. lra.
Qed.

Lemma chance_none : forall n, chance n (only None) = 1 - pi n.
Proof. intros n. unfold chance. cbn [only]. rewrite sum_zero. lra. Qed.

(* In the other direction too, up to a delta of 1/2: somewhere its whole is used by the answer that shows nothing. *)
Theorem delta_needed_down :
  d <= 1 / 2 -> exists n, chance n (only None) = e * chance (S n) (only None) + d.
Proof.
  intros half.
  assert (enough : forall n, (1 - d) <= (1 + e) * pi n -> pi n <= 1 - d ->
            chance n (only None) = e * chance (S n) (only None) + d).
  { intros n low high. rewrite !chance_none. apply Rle_antisym.
    - destruct (step_bounds (pi n)) as [_ [second _]]. exact second.
    - assert (1 - (1 - pi n - d) / e <= pi (S n)).
      { pose proof (part_of (1 - pi n - d)) as whole. rewrite pi_S.
        apply step_greatest; [| |].
        - apply Rmult_le_reg_l with e; [lra|].
          assert (0 <= (e - 1) * ((1 + e) * pi n - (1 - d))) by (apply Rmult_le_pos; lra). lra.
        - lra.
        - apply Rmult_le_reg_l with e; lra. }
      pose proof (part_of (1 - pi n - d)) as whole.
      assert (e * (1 - (1 - pi n - d) / e) <= e * pi (S n)) by (apply Rmult_le_compat_l; lra).
      lra. }
  destruct (Rle_dec (1 - d) ((1 + e) * d)) as [first|later].
  - exists 1%nat. apply enough; rewrite pi_1; lra.
  - assert (search : forall n, (1 - d) <= (1 + e) * pi n ->
              exists m, (1 - d) <= (1 + e) * pi m /\ pi m <= 1 - d).
    { induction n as [|n IH]; [cbn; lra|]. intros reached.
      destruct (Rle_dec (1 - d) ((1 + e) * pi n)) as [before|not_yet]; [exact (IH before)|].
      exists (S n). split; [exact reached|].
      destruct (step_bounds (pi n)) as [above _]. rewrite <- pi_S in above.
      apply Rmult_le_reg_l with (1 + e); [lra|].
      assert (e * ((1 + e) * pi n) <= e * (1 - d)) by (apply Rmult_le_compat_l; lra).
      assert ((1 + e) * pi (S n) <= (1 + e) * (e * pi n + d)) by (apply Rmult_le_compat_l; lra).
      lra. }
    destruct pi_is_one as [N sure]. destruct (search N) as [m [low high]].
    { rewrite (sure N (le_n N)). lra. }
    exists m. apply enough; assumption.
Qed.

End Guarantee.
