(* Numbers that meet all that the theorems of the draw ask for: two candidates of weights 1 and 3; and what is wrong
   with definitions a little different. *)

From Coq Require Import Reals Lra Lia ZArith.
From Discreet Require Import Sums Draw Share Locate Settle.
Open Scope R_scope.

Definition weights (i : nat) : R := match i with O => 1 | _ => 3 end.
Definition low (j : nat) : R := match j with O => 0 | 1%nat => 7 / 8 | _ => 31 / 8 end.
Definition high (j : nat) : R := match j with O => 0 | 1%nat => 9 / 8 | _ => 33 / 8 end.

Lemma weights_positive : positive 2 weights.
Proof. intros [|i] _; cbn; lra. Qed.

Lemma weights_enclosed : encloses 2 weights low high.
Proof. intros [|[|[|j]]] le; cbn; try lra; lia. Qed.

Lemma weights_within : within 2 weights low high (1 / 8).
Proof. intros [|[|[|j]]] le; cbn; try lra; lia. Qed.

Lemma half_known : known 1 1 (1 / 2).
Proof. split; cbn; lra. Qed.

Lemma half_certified : certificate 2 low high 1 1 1.
Proof. split; [lia|split; [right|left; lia]]. cbn. lra. Qed.

Example falls_exists_instance : exists i, falls 2 weights (1 / 2) i.
Proof. apply falls_exists; [exact weights_positive|lia|lra]. Qed.

Example certificate_sound_instance : falls 2 weights (1 / 2) 1.
Proof.
  apply certificate_sound with (lo := low) (hi := high) (m := 1%nat) (k := 1%nat).
  - exact weights_positive.
  - exact weights_enclosed.
  - lra.
  - exact half_known.
  - exact half_certified.
Qed.

Example falls_unique_instance : forall i, falls 2 weights (1 / 2) i -> i = 1%nat.
Proof.
  intros i here. apply (falls_unique 2 weights (1 / 2) i 1 weights_positive here).
  exact certificate_sound_instance.
Qed.

Example share_instance : forall v, falls 2 weights v 1 <-> 1 / 4 <= v < 1.
Proof.
  intros v. destruct (share 2 weights 1 weights_positive ltac:(lia)) as [same _].
  rewrite same. cbn. split; lra.
Qed.

Example refinement_ends_instance :
  exists i r K, falls 2 weights (1 / 2) i /\ 0 < r /\
    forall lo hi m k, encloses 2 weights lo hi -> within 2 weights lo hi r -> (K <= k)%nat ->
      known m k (1 / 2) -> certificate 2 lo hi m k i.
Proof.
  apply refinement_ends; [exact weights_positive|lia|lra|].
  intros j between. replace j with 1%nat by lia. cbn. lra.
Qed.

Example boundaries_stay_open_instance : forall i, ~ certificate 2 low high 1 2 i.
Proof.
  intros i. apply boundaries_stay_open with (w := weights) (v := 1 / 4) (j := 1%nat).
  - exact weights_positive.
  - exact weights_enclosed.
  - lia.
  - cbn. lra.
  - cbn. lra.
  - split; cbn; lra.
Qed.

(* ---- Counts: the words 1, 2, 3 of two bits fall on candidate 1, which has 3/4 of the weight ---- *)

Definition not_zero (m : nat) : bool := negb (Nat.eqb m 0).

Lemma not_zero_sound : sound 2 weights 2 1 not_zero.
Proof.
  intros m below member v v01 [from upto]. unfold not_zero in member.
  destruct m as [|m]; [discriminate|]. rewrite S_INR in *. pose proof (pos_INR m).
  cbn in from, upto. split; [lia|cbn; lra].
Qed.

Example count_at_most_instance : fraction 2 not_zero = 3 / 4 /\ fraction 2 not_zero <= 3 / 4.
Proof.
  split; [unfold fraction, count; cbn; lra|].
  replace (3 / 4) with (weights 1 / sum 2 weights) by (cbn; lra).
  apply count_at_most; [exact weights_positive|lia|exact not_zero_sound].
Qed.

Definition exact (j : nat) : R := sum j weights.

Example count_at_least_instance : 3 / 4 - 2 / 2 ^ 2 <= fraction 2 not_zero.
Proof.
  replace (3 / 4 - 2 / 2 ^ 2) with
    (weights 1 / sum 2 weights - 4 * 0 / sum 2 weights - 2 / 2 ^ 2) by (cbn; lra).
  apply count_at_least with (lo := exact) (hi := exact); [exact weights_positive|lia|cbn; lra| |].
  - intros j _. unfold exact. lra.
  - intros [|m] below [_ [after _]]; [|reflexivity]. exfalso.
    destruct after as [first|after]; [lia|]. cbn in after. lra.
Qed.

(* ---- Integers: the ends 0, 1, 4, and balls around them in units of 1/8 ---- *)

Open Scope Z_scope.
Definition low_ends (j : nat) : Z := match j with O => 0 | 1%nat => 7 | _ => 31 end.
Definition high_ends (j : nat) : Z := match j with O => 0 | 1%nat => 9 | _ => 33 end.
Definition exact_ends (j : nat) : Z := match j with O => 0 | 1%nat => 1 | _ => 4 end.
Open Scope R_scope.

Lemma balls_enclose : encloses 2 weights (real (1 / 8) low_ends) (real (1 / 8) high_ends).
Proof. intros [|[|[|j]]] le; unfold real; cbn; try lra; lia. Qed.

Lemma balls_increase : increasing 2 low_ends high_ends.
Proof.
  split; [|split]; [intros [|[|[|j]]] le; cbn; lia|intros [|[|j]] le; cbn; lia|cbn; lia].
Qed.

Example locate_sound_instance :
  locate 2 low_ends high_ends 1 1 = Some 1%nat /\ falls 2 weights (1 / 2) 1.
Proof.
  split; [reflexivity|].
  apply locate_sound with (lo := low_ends) (hi := high_ends) (unit := 1 / 8) (m := 1%nat)
    (k := 1%nat); [exact weights_positive|lia|lra|exact balls_enclose|lra|exact half_known|].
  reflexivity.
Qed.

Example locate_complete_instance : locate 2 low_ends high_ends 1 1 = Some 1%nat.
Proof.
  apply (locate_complete 2 low_ends high_ends (1 / 8) 1 1 1); [lra|exact balls_increase|].
  split; [lia|split; [right|left; lia]]. unfold real. cbn. lra.
Qed.

Example locate_open_instance : locate 2 low_ends high_ends 1 2 = None.
Proof. reflexivity. Qed.

Example running_sums_increase_instance : increasing 2 low_ends high_ends.
Proof.
  apply running_sums_increase with
    (below := fun j => match j with O => 7%Z | _ => 24%Z end)
    (above := fun j => match j with O => 9%Z | _ => 24%Z end); try reflexivity; [lia| |];
    intros [|[|j]] le; cbn; lia.
Qed.

Example answer_sound_instance : falls 2 weights (1 / 2) 1.
Proof.
  apply (answer_sound 2 weights (1 / 2) 1 1 (fun j => Nat.eqb j 0) (fun _ => false)).
  - exact weights_positive.
  - lia.
  - lra.
  - exact half_known.
  - intros j less test. apply Nat.eqb_eq in test. subst j. cbn. lra.
  - discriminate.
  - left. reflexivity.
Qed.

Example bisect_sound_instance : bisect_left (fun j => Nat.ltb j 3) 7 = 3%nat.
Proof. reflexivity. Qed.

Example bisect_complete_instance : bisect_left (fun j => Nat.ltb j 3) 7 = 3%nat.
Proof.
  apply bisect_complete; [lia| |]; intros j less; [apply Nat.ltb_lt|apply Nat.ltb_ge]; lia.
Qed.

Example settle_sound_instance : falls 2 weights (1 / 2) 1.
Proof.
  apply settle_sound with (depth := fun s => S s) (lo := fun _ => low_ends)
    (hi := fun _ => high_ends) (unit := fun _ => 1 / 8) (stages := 1%nat) (m := 1%nat)
    (bits := 1%nat); [exact weights_positive|lia| |lra|exact half_known|reflexivity].
  intros s less. split; [lia|split; [lra|exact balls_enclose]].
Qed.

Lemma exact_enclose : encloses 2 weights (real 1 exact_ends) (real 1 exact_ends).
Proof. intros [|[|[|j]]] le; unfold real; cbn; try lra; lia. Qed.

Example settle_share_instance :
  Un_cv (fun s => fraction s (answered 2 (fun s => s) (fun _ => exact_ends) (fun _ => exact_ends) 1 s))
    (3 / 4).
Proof.
  replace (3 / 4) with (weights 1 / sum 2 weights) by (cbn; lra).
  apply (settle_share 2 weights 1 (fun s => s) (fun _ => exact_ends) (fun _ => exact_ends)
           (fun _ => 1) (fun _ => 0)).
  - exact weights_positive.
  - lia.
  - intros s t le. exact le.
  - intros K. exists K. intros s le. exact le.
  - intros s. split; [lra|split; [lra|split; [exact exact_enclose|split]]].
    + intros [|[|[|j]]] le; unfold real; cbn; try lra; lia.
    + split; [|split]; [intros [|[|[|j]]] le; cbn; lia|intros [|[|j]] le; cbn; lia|cbn; lia].
  - intros e e0. exists 0%nat. intros s _. unfold R_dist. rewrite Rminus_0_r, Rabs_R0. exact e0.
Qed.

Example share_converges_instance :
  Un_cv (fun s => fraction s (answered 2 (fun s => s) (fun _ => exact_ends) (fun _ => exact_ends) 1 s))
    (3 / 4).
Proof. exact settle_share_instance. Qed.

(* ---- Definitions a little different would be wrong ---- *)

(* The lower comparison with the word's upper end, m + 1. *)
Lemma lower_end_of_the_next_word_is_wrong :
  exists v, 0 <= v < 1 /\ known 0 2 v /\ high 1 * 2 ^ 1 <= (INR 0 + 1) * low 2 /\
    ~ falls 2 weights v 1.
Proof.
  exists 0. split; [lra|]. split; [split; cbn; lra|]. split; [cbn; lra|].
  intros [_ [from _]]. cbn in from. lra.
Qed.

(* The upper comparison with the word's lower end, m. *)
Lemma upper_end_of_the_word_itself_is_wrong :
  exists v, 0 <= v < 1 /\ known 0 1 v /\ INR 0 * high 2 <= low 1 * 2 ^ 1 /\ ~ falls 2 weights v 0.
Proof.
  exists (1 / 4). split; [lra|]. split; [split; cbn; lra|]. split; [cbn; lra|].
  intros [_ [_ upto]]. cbn in upto. lra.
Qed.

(* The lower comparison with the lower end of the interval around S_i: 0.22 is below 1/4, and would be settled. *)
Lemma lower_ends_of_intervals_are_wrong :
  exists v, 0 <= v < 1 /\ known 29 7 v /\ low 1 * 2 ^ 7 <= INR 29 * low 2 /\ ~ falls 2 weights v 1.
Proof.
  exists (29 / 128). split; [lra|]. split; [split; cbn; lra|]. split; [cbn; lra|].
  intros [_ [from _]]. cbn in from. lra.
Qed.

(* The total from the upper end of its interval, where the lower end is meant. *)
Lemma upper_total_is_wrong :
  exists lo hi v, encloses 2 weights lo hi /\ 0 <= v < 1 /\ known 7 5 v /\
    hi 1%nat * 2 ^ 5 <= INR 7 * hi 2%nat /\ ~ falls 2 weights v 1.
Proof.
  exists (fun j => sum j weights), (fun j => match j with 2%nat => 5 | _ => sum j weights end), (7 / 32).
  split; [intros [|[|[|j]]] le; cbn; try lra; lia|].
  split; [lra|]. split; [split; cbn; lra|]. split; [cbn; lra|].
  intros [_ [from _]]. cbn in from. lra.
Qed.

(* No second comparison at all. *)
Lemma one_comparison_is_not_enough :
  exists v, 0 <= v < 1 /\ known 0 0 v /\ ~ falls 2 weights v 0.
Proof.
  exists (1 / 2). split; [lra|]. split; [split; cbn; lra|]. intros [_ [_ upto]]. cbn in upto. lra.
Qed.

(* A share counted with one word more than it has. *)
Lemma no_larger_set_is_sound :
  ~ sound 2 weights 2 1 (fun _ => true).
Proof.
  intros all. destruct (all 0%nat ltac:(cbn; lia) eq_refl 0 ltac:(lra) ltac:(split; cbn; lra))
    as [_ [from _]]. cbn in from. lra.
Qed.

(* A search that never answers is sound, but not complete: `locate_complete` is the half that it fails. *)
Lemma a_silent_search_is_not_complete :
  ~ (forall i, certificate 2 (real (1 / 8) low_ends) (real (1 / 8) high_ends) 1 1 i ->
       None = Some i).
Proof.
  intros silent. discriminate (silent 1%nat). split; [lia|split; [right|left; lia]].
  unfold real. cbn. lra.
Qed.

(* Bisection that steps the other way. *)
Lemma bisection_with_the_test_negated_is_wrong :
  let i := bisect_left (fun j => negb (Nat.ltb j 3)) 7 in
  ~ (i = 0%nat \/ Nat.ltb (i - 1) 3 = true).
Proof. cbn. intros [absurd|absurd]; discriminate. Qed.
