(* Keys by Gaussian thresholds: the event that a key of the unit alone is shown, and the noisy counts of all other keys,
   at most add up to the maximum that is charged; and some event reaches it. *)

From Coq Require Import Reals Lra Lia Bool.
From Discreet Require Import Sums.
Open Scope R_scope.

(* The delta of two laws of n answers at the logarithm of e. *)
Definition excess (n : nat) (e : R) (P Q : nat -> R) : R := sum n (fun i => Rmax 0 (P i - e * Q i)).

(* None of k keys is shown, each with probability p. *)
Definition silent (p : R) (k : nat) : R := (1 - p) ^ k.

(* The probability of an event: whether an own key is shown belongs to it (own), and the other answers that do (E). With an
   own key shown the other keys are not looked at: that event has no probability on the other side. *)
Definition chance (n : nat) (p : R) (k : nat) (P : nat -> R) (own : bool) (E : nat -> bool) : R :=
  sum n (fun i => if E i then silent p k * P i else 0) + (if own then 1 - silent p k else 0).

(* That event on the other side, where a unit has b own keys: with those shown (own) as well. *)
Definition charged (n : nat) (p : R) (a b : nat) (e : R) (P Q : nat -> R) : R :=
  1 - silent p a * (1 - excess n (e * silent p b / silent p a) P Q).

Lemma silent_positive : forall p k, 0 <= p < 1 -> 0 < silent p k.
Proof. intros p k p1. apply pow_lt. lra. Qed.

Lemma silent_at_most_one : forall p k, 0 <= p < 1 -> silent p k <= 1.
Proof.
  intros p k p1. unfold silent. pose proof (pow_incr (1 - p) 1 k ltac:(lra)) as le. rewrite pow1 in le. exact le.
Qed.

(* a keys are of the unit before alone, b of the unit after alone. *)
Theorem own_keys :
  forall n p a b e P Q, 0 <= p < 1 -> 0 <= e -> forall own own' E,
    chance n p a P own E - e * chance n p b Q own' E <= charged n p a b e P Q.
Proof.
  intros n p a b e P Q p1 e0 own own' E. unfold chance, charged.
  pose proof (silent_positive p a p1) as A0. pose proof (silent_at_most_one p a p1) as A1.
  pose proof (silent_positive p b p1) as B0. pose proof (silent_at_most_one p b p1) as B1.
  set (A := silent p a) in *. set (B := silent p b) in *.
  assert (others : sum n (fun i => if E i then A * P i else 0) - e * sum n (fun i => if E i then B * Q i else 0)
      <= A * excess n (e * B / A) P Q).
  { unfold excess. rewrite <- !sum_scal, <- sum_minus. apply sum_le. intros i _.
    pose proof (Rmax_l 0 (P i - e * B / A * Q i)) as low.
    pose proof (Rmax_r 0 (P i - e * B / A * Q i)) as high.
    apply (Rmult_le_compat_l A) in low; [|lra]. apply (Rmult_le_compat_l A) in high; [|lra].
    replace (A * (P i - e * B / A * Q i)) with (A * P i - e * (B * Q i)) in high by (field; lra).
    destruct (E i); lra. }
  assert (mine : (if own then 1 - A else 0) <= 1 - A) by (destruct own; lra).
  assert (theirs : 0 <= e * (if own' then 1 - B else 0)) by (apply Rmult_le_pos; [lra|destruct own'; lra]).
  lra.
Qed.

(* The event: an own key of the unit before is shown, or an answer that is likelier before. *)
Theorem own_keys_are_reached :
  forall n p a b e P Q, 0 <= p < 1 -> exists E,
    chance n p a P true E - e * chance n p b Q false E = charged n p a b e P Q.
Proof.
  intros n p a b e P Q p1. pose proof (silent_positive p a p1) as A0.
  exists (fun i => if Rle_dec (P i - e * silent p b / silent p a * Q i) 0 then false else true).
  unfold chance, charged. set (A := silent p a) in *. set (B := silent p b) in *.
  rewrite Rplus_0_r.
  assert (others : sum n (fun i => if (if Rle_dec (P i - e * B / A * Q i) 0 then false else true) then A * P i else 0)
      - e * sum n (fun i => if (if Rle_dec (P i - e * B / A * Q i) 0 then false else true) then B * Q i else 0)
      = A * excess n (e * B / A) P Q).
  { unfold excess. rewrite <- !sum_scal, <- sum_minus. apply sum_ext. intros i _.
    destruct (Rle_dec (P i - e * B / A * Q i) 0) as [no|yes]; cbn [andb].
    - rewrite Rmax_left by exact no. ring.
    - rewrite Rmax_right by lra. field. lra. }
  lra.
Qed.

(* The factor of the other keys, as an epsilon. *)
Theorem own_keys_shift_epsilon :
  forall p a b eps, 0 <= p < 1 ->
    exp eps * silent p b / silent p a = exp (eps + (INR a - INR b) * - ln (1 - p)).
Proof.
  intros p a b eps p1. unfold silent.
  assert (power : forall k, (1 - p) ^ k = exp (INR k * ln (1 - p))).
  { induction k as [|k IH]; [cbn [pow]; simpl INR; rewrite Rmult_0_l, exp_0; reflexivity|].
    rewrite <- tech_pow_Rmult, IH, S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l, exp_ln by lra. ring. }
  rewrite !power. unfold Rdiv. rewrite <- exp_Ropp, <- !exp_plus. f_equal. ring.
Qed.

(* Where the other keys have one law on both sides, nothing but the own keys is charged. *)
Theorem of_own_keys_alone :
  forall n p a P, 0 <= p < 1 -> (forall i, (i < n)%nat -> 0 <= P i) -> forall e, 1 <= e * silent p 0 / silent p a ->
    charged n p a 0 e P P = 1 - silent p a.
Proof.
  intros n p a P p1 nonneg e larger. unfold charged, excess.
  rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; ring|].
  intros i lt. apply Rmax_left. pose proof (nonneg i lt) as P0.
  apply (Rmult_le_compat_r (P i)) in larger; lra.
Qed.
