(* Permute-and-flip by numbers: coins of 1, 1/2 and 1/4, and two candidates of which one is ahead; and what is wrong. *)

From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Sums Range RangeInstances Flip FlipPrivate.
Import ListNotations.
Open Scope R_scope.

Definition coins (i : nat) : R := match i with O => 1 | 1%nat => 1 / 2 | _ => 1 / 4 end.
Definition three : list nat := [0; 1; 2]%nat.

Lemma three_distinct : NoDup three.
Proof. repeat constructor; cbn; intuition discriminate. Qed.

Lemma visits : flip 3 coins three 0 = 2 / 3 /\ flip 3 coins three 1 = 11 / 48 /\ flip 3 coins three 2 = 5 / 48.
Proof. repeat split; cbn; field. Qed.

Example flip_is_the_integral_instance :
  coins 2 * RInt (fun t => (1 - 1 * t) * ((1 - 1 / 2 * t) * (1 * 1))) 0 1 = 5 / 48.
Proof.
  rewrite <- (proj2 (proj2 visits)). symmetry.
  exact (flip_is_the_integral coins three 2 three_distinct ltac:(cbn; intuition)).
Qed.

Example flip_is_one_of_the_heads_instance : one_of_the_heads coins three [] 2 = 5 / 48.
Proof.
  rewrite <- (proj2 (proj2 visits)). symmetry.
  exact (flip_is_one_of_the_heads coins three 2 three_distinct ltac:(cbn; intuition)).
Qed.

Lemma pf_before : pf 2 (ln 2) before 0 = 1 / 2 /\ pf 2 (ln 2) before 1 = 1 / 2.
Proof.
  unfold pf, coin_of, gap. cbn. rewrite Rmax_left by lra.
  replace (- (ln 2 * (0 - 0))) with (ln 2 * 0) by ring. rewrite single. split; field.
Qed.

Lemma pf_after : pf 2 (ln 2) after 0 = 3 / 4 /\ pf 2 (ln 2) after 1 = 1 / 4.
Proof.
  unfold pf, coin_of, gap. cbn. rewrite Rmax_left by lra.
  replace (- (ln 2 * (1 - 1))) with (ln 2 * 0) by ring.
  replace (- (ln 2 * (1 - 0))) with (- (ln 2 * 1)) by ring.
  rewrite exp_Ropp, double, single. split; field.
Qed.

Example pf_law_instance : law 2 (pf 2 (ln 2) after).
Proof. apply pf_law; [left; exact log_two_positive|lia]. Qed.

Lemma one_ahead : spread 2 (fun _ => 1) 1 before after.
Proof. intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; cbn; lra. Qed.

Example pf_private_instance : private 2 (ln 2 * 1) (pf 2 (ln 2) after) (pf 2 (ln 2) before).
Proof. apply pf_private; [left; exact log_two_positive|lra|exact one_ahead]. Qed.

Example noisy_max_is_flip_instance : is_lim (noisy_max_up_to 2 (ln 2) after 1) p_infty (1 / 4).
Proof.
  rewrite <- (proj2 pf_after). apply noisy_max_is_flip; [left; exact log_two_positive|lia].
Qed.

(* ---- What is wrong ---- *)

(* Candidates that are visited again would make it the exponential mechanism. *)
Lemma candidates_are_put_away :
  em 2 (fun _ => 1) (ln 2) after 1 = 1 / 3 /\ pf 2 (ln 2) after 1 <> em 2 (fun _ => 1) (ln 2) after 1.
Proof.
  assert (value : em 2 (fun _ => 1) (ln 2) after 1 = 1 / 3).
  { unfold em, weight. cbn. rewrite double, single. field. }
  split; [exact value|]. rewrite value, (proj2 pf_after). lra.
Qed.

(* It has no bounded range of epsilon. *)
Lemma pf_has_no_bounded_range :
  ~ bounded_range 2 (ln 2 * 1) (pf 2 (ln 2) after) (pf 2 (ln 2) before).
Proof.
  intros range. specialize (range 0%nat 1%nat ltac:(lia) ltac:(lia)).
  destruct pf_before as [b0 b1], pf_after as [a0 a1]. rewrite a0, a1, b0, b1, double in range. lra.
Qed.

(* The constant of epsilon-DP, whatever the spread and eta. *)
Lemma pf_no_smaller_epsilon :
  forall eta D e, 0 < eta -> 0 <= D -> e < eta * D ->
    exists s s', spread 2 (fun _ => 1) D s s' /\ ~ private 2 e (pf 2 eta s') (pf 2 eta s).
Proof.
  intros eta D e eta0 D0 less. exists (pair 0 (- D)), (pair 0 0). split.
  { intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; cbn; lra. }
  intros priv. destruct (priv (fun i => Nat.eqb i 1)) as [up _]. unfold prob, pf, coin_of, gap in up. cbn in up.
  rewrite !Rmax_left in up by lra.
  replace (- (eta * (0 - 0))) with 0 in up by ring.
  replace (- (eta * (0 - - D))) with (- (eta * D)) in up by ring.
  rewrite exp_0, exp_Ropp in up.
  assert (grows : exp e < exp (eta * D)) by (apply exp_increasing; exact less).
  pose proof (exp_pos (eta * D)) as x0. set (x := exp (eta * D)) in *. set (y := exp e) in *.
  assert (y / x < 1) by (apply Rmult_lt_reg_r with x; [exact x0|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra).
  unfold Rdiv in *. lra.
Qed.

(* Without a candidate of weight one there may be no answer. *)
Lemma the_best_must_weigh_one : sum 2 (flip 2 (fun _ => 1 / 2) [0; 1]%nat) = 3 / 4.
Proof. cbn. field. Qed.

(* Any one of the candidates in place of any one of the heads. *)
Fixpoint one_of_all (w : nat -> R) (rest heads : list nat) (r n : nat) : R :=
  match rest with
  | [] => if existsb (Nat.eqb r) heads then / INR n else 0
  | j :: rest' => w j * one_of_all w rest' (j :: heads) r n + (1 - w j) * one_of_all w rest' heads r n
  end.

Lemma any_candidate_is_not_any_head : one_of_all coins three [] 0 3 <> flip 3 coins three 0.
Proof. rewrite (proj1 visits). cbn. lra. Qed.

(* The product over all candidates in place of all others. *)
Lemma the_product_is_over_the_others :
  coins 2 * RInt (fun t => (1 - 1 * t) * ((1 - 1 / 2 * t) * ((1 - 1 / 4 * t) * 1))) 0 1 <> flip 3 coins three 2.
Proof.
  rewrite (proj2 (proj2 visits)).
  set (F := fun t => t - 7 / 8 * t ^ 2 + 7 / 24 * t ^ 3 - 1 / 32 * t ^ 4).
  assert (value : is_RInt (fun t => (1 - 1 * t) * ((1 - 1 / 2 * t) * ((1 - 1 / 4 * t) * 1))) 0 1 (minus (F 1) (F 0))).
  { apply (is_RInt_derive (V := R_CompleteNormedModule) F).
    - intros t _. unfold F. auto_derive; [exact I|]. field.
    - intros t _. apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact I. }
  rewrite (is_RInt_unique (V := R_CompleteNormedModule) _ _ _ _ value).
  unfold F, minus, plus, opp. cbn. lra.
Qed.
